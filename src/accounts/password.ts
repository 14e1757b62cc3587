// Passwords: stored as argon2id hashes only.

import { limits } from '../limits.ts'

let turn: Promise<unknown> = Promise.resolve()

/** Makes one hash at a time, because each takes `passwordHashBytes` of memory, and many may sign up at once. */
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
