// Hashes passwords with argon2id. Only the hash is stored.

import { openSemaphore } from '../base/semaphore.ts'
import { limits } from '../limits.ts'

const cost = {
  algorithm: 'argon2id',
  memoryCost: limits.passwordHashBytes / 1024,
  timeCost: limits.passwordHashPasses,
} as const

/**
 * A hash that no password matches. For an unknown account, `isPassword` checks the password against this hash. The
 * response time then does not reveal whether the account exists.
 */
const unmatchedHash = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=1$${'A'.repeat(43)}$${'A'.repeat(43)}`

/** The sender of a request for which a password hash is computed. `signal` is aborted when the sender disconnects. */
export type Asker = { network: string; signal: AbortSignal }

/**
 * Allows one password hash at a time, because the computation needs `passwordHashBytes` of memory. The networks of the
 * senders (an IPv4 address or an IPv6 /64 network) take turns. So a network with many waiting requests does not block
 * the requests from other networks.
 */
const semaphore = openSemaphore(1)

/**
 * Calls `work` when no other password hash is being computed and it is the turn of the sender's network. Rejects if the
 * sender disconnects before that. `asker` is null if a command of the program, and not a request, needs the hash.
 */
function inTurn<T>(asker: Asker | null, work: () => Promise<T>): Promise<T> {
  return semaphore.run(asker?.network ?? '', work, asker?.signal)
}

/** Returns true if a person may choose this password. Its length is counted in characters, not in UTF-16 code units. */
export function isNewPassword(password: string): boolean {
  const characters = [...password].length
  return characters >= limits.passwordLengthMin && characters <= limits.passwordLengthMax
}

/**
 * Returns the hash of a password. Rejects if `asker` (the sender of the request) disconnects before the computation
 * begins.
 */
export function hashPassword(password: string, asker: Asker | null = null): Promise<string> {
  return inTurn(asker, () => Bun.password.hash(password, cost))
}

/**
 * Returns true if a password matches a stored hash. Without a stored hash, `hash` is null: the function then returns
 * false, after the same time as for a wrong password. Rejects if `asker` (the sender of the request) disconnects before
 * the computation begins.
 */
export function isPassword(password: string, hash: string | null, asker: Asker): Promise<boolean> {
  return inTurn(asker, () => Bun.password.verify(password, hash ?? unmatchedHash))
}
