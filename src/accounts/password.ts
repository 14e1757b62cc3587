// Hashes passwords with argon2id. Only the hash is stored.

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

let turn: Promise<unknown> = Promise.resolve()

/**
 * Calls `work` after the work of all earlier calls. Only one hash at a time is computed, because a hash needs
 * `passwordHashBytes` of memory.
 */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const result = turn.then(work)
  turn = result.catch(() => null)
  return result
}

/** Returns true if a person may choose this password. Its length is counted in characters, not in UTF-16 code units. */
export function isNewPassword(password: string): boolean {
  const characters = [...password].length
  return characters >= limits.passwordLengthMin && characters <= limits.passwordLengthMax
}

export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, cost))
}

/**
 * Returns true if a password matches a stored hash. Without a stored hash, `hash` is null: the function then returns
 * false, after the same time as for a wrong password.
 */
export function isPassword(password: string, hash: string | null): Promise<boolean> {
  return inTurn(() => Bun.password.verify(password, hash ?? unmatchedHash))
}
