// A password for accounts of tests, and a hash of this password that costs little CPU time. A sign-in costs little too,
// because Bun reads the cost from the hash.

import { afterAll, beforeAll, spyOn } from 'bun:test'

export const lowCost = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const

export const password = 'correct horse battery'
export const passwordHash = Bun.password.hashSync(password, lowCost)

/**
 * Makes services in the test process hash passwords at a low cost during the tests of the calling file. Replaces Bun's
 * functions `hash` and `verify` for this. A sign-in with an unknown email address compares the password with a fixed
 * hash of the usual, high cost, which no password matches. The replaced `verify` returns false for such a hash at once,
 * without a computation. The built program is not changed.
 */
export function hashAtLowCost(): void {
  const { hash, verify } = Bun.password
  beforeAll(() => {
    spyOn(Bun.password, 'hash').mockImplementation(text => hash(text, lowCost))
    spyOn(Bun.password, 'verify').mockImplementation(async (text, stored) =>
      `${stored}`.includes(`m=${lowCost.memoryCost},`) ? verify(text, stored) : false,
    )
  })
  afterAll(() => {
    spyOn(Bun.password, 'hash').mockRestore()
    spyOn(Bun.password, 'verify').mockRestore()
  })
}
