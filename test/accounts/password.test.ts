import { expect, test } from 'bun:test'
import { hashPassword } from '../../src/accounts/password.ts'
import { limits } from '../../src/limits.ts'

// A hash and a check of it each take 0.2 s of CPU time, so all claims share three hashes.
test('passwords are stored one after another as argon2id, each with a new salt, and every character counts', async () => {
  const long = `pass\u0000wörd${'x'.repeat(limits.passwordLengthMax - 9)}`
  const done: number[] = []
  let beats = 0
  const beat = setInterval(() => {
    beats += 1
  }, 1)
  // The empty password is refused, which does not block the next one.
  const results = await Promise.allSettled(
    ['correct horse', '', 'correct horse', long].map(async (password, at) => {
      const hash = await hashPassword(password)
      done.push(at)
      return hash
    }),
  )
  clearInterval(beat)
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  expect(done).toEqual([0, 2, 3])
  // The event loop has kept running meanwhile.
  expect(beats).toBeGreaterThan(2)

  const [one, , other, hash] = results.map(result => (result.status === 'fulfilled' ? result.value : ''))
  expect(one).toStartWith(
    `$argon2id$v=19$m=${limits.passwordHashBytes / 1024},t=${limits.passwordHashPasses},p=1$`,
  )
  expect(one).not.toBe(other)
  expect(await Bun.password.verify(long, hash!)).toBe(true)
  expect(await Bun.password.verify(`${long.slice(0, -1)}y`, hash!)).toBe(false)
  expect(await Bun.password.verify('pass', hash!)).toBe(false)
})
