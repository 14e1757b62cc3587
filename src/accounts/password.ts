// Hashes passwords with argon2id. Only the hash is stored.

import { limits } from '../limits.ts'

let turn: Promise<unknown> = Promise.resolve()

/**
 * Hashes a password. Concurrent calls are computed one after the other, because each hash needs
 * `passwordHashBytes` of memory.
 */
export function hashPassword(password: string): Promise<string> {
  const hash = turn.then(() =>
    Bun.password.hash(password, {
      algorithm: 'argon2id',
      memoryCost: limits.passwordHashBytes / 1024,
      timeCost: limits.passwordHashPasses,
    }),
  )
  turn = hash.catch(() => null)
  return hash
}
