// Passwords are kept as argon2id hashes only.

import { limits } from '../limits.ts'

let turn: Promise<unknown> = Promise.resolve()

/** One at a time: each takes much memory for a moment, and a flood of sign-ups must not take it many times over. */
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
