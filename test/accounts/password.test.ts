import { expect, test } from 'bun:test'
import { hashPassword } from '../../src/accounts/password.ts'
import { limits } from '../../src/limits.ts'

test('a password is stored as argon2id, with a new salt each time', async () => {
  const [one, other] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
  expect(one).toStartWith(
    `$argon2id$v=19$m=${limits.passwordHashBytes / 1024},t=${limits.passwordHashPasses},p=1$`,
  )
  expect(one).not.toBe(other)
  expect(await Bun.password.verify('correct horse', one)).toBe(true)
  expect(await Bun.password.verify('correct horsf', one)).toBe(false)
})

test('in a password of the maximum length every character counts', async () => {
  const long = `pass\u0000wörd${'x'.repeat(limits.passwordLengthMax - 9)}`
  const hash = await hashPassword(long)
  expect(await Bun.password.verify(long, hash)).toBe(true)
  expect(await Bun.password.verify(`${long.slice(0, -1)}y`, hash)).toBe(false)
  expect(await Bun.password.verify('pass', hash)).toBe(false)
})

test('a hash that fails does not block the next one', async () => {
  const refused = hashPassword('')
  const next = hashPassword('correct horse')
  await expect(refused).rejects.toThrow()
  expect(await next).toStartWith('$argon2id$')
})

test('hashes are made one after another, and the event loop keeps running', async () => {
  const done: number[] = []
  let beats = 0
  const beat = setInterval(() => {
    beats += 1
  }, 1)
  await Promise.all([0, 1, 2].map(each => hashPassword('correct horse').then(() => done.push(each))))
  clearInterval(beat)
  expect(done).toEqual([0, 1, 2])
  expect(beats).toBeGreaterThan(2)
})
