// Passwords are stored only as argon2id hashes.

import { limits } from '../limits.ts'

let turn: Promise<unknown> = Promise.resolve()

/** Computes one hash at a time: each needs `passwordHashBytes` of memory, and many users may sign up at once. */
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
