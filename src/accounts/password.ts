// Hashes passwords with argon2id. Only the hash is stored.

import { limits } from '../limits.ts'

const cost = {
  algorithm: 'argon2id',
  memoryCost: limits.passwordHashBytes / 1024,
  timeCost: limits.passwordHashPasses,
} as const

/** A hash that matches no password. Checking it takes as long as checking the hash of an account. */
const unmatchedHash = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=1$${'A'.repeat(43)}$${'A'.repeat(43)}`

let turn: Promise<unknown> = Promise.resolve()

/**
 * Calls `work` when all earlier calls have ended. Hashes are computed one after the other, because each one needs
 * `passwordHashBytes` of memory.
 */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const result = turn.then(work)
  turn = result.catch(() => null)
  return result
}

export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, cost))
}

/**
 * Compares a password with a stored hash. `hash` is null if there is no account. The result is then false, after the
 * same time.
 */
export function isPassword(password: string, hash: string | null): Promise<boolean> {
  return inTurn(() => Bun.password.verify(password, hash ?? unmatchedHash))
}
