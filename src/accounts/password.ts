// Hashes passwords with argon2id. Only the hash is stored.

import { limits } from '../limits.ts'

const cost = {
  algorithm: 'argon2id',
  memoryCost: limits.passwordHashBytes / 1024,
  timeCost: limits.passwordHashPasses,
} as const

/** A hash that no known password matches. Its check takes as long as the check of a stored hash. */
const unmatchedHash = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=1$${'A'.repeat(43)}$${'A'.repeat(43)}`

let turn: Promise<unknown> = Promise.resolve()

/**
 * Runs `work` after all earlier calls. Hashes are computed one after the other, because each hash needs
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

/** Compares a password with a stored hash. `hash` is null when there is no account; the result is then false. */
export function isPassword(password: string, hash: string | null): Promise<boolean> {
  return inTurn(() => Bun.password.verify(password, hash ?? unmatchedHash))
}
