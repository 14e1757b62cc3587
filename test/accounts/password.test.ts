import { expect, spyOn, test } from 'bun:test'
import { hashPassword } from '../../src/accounts/password.ts'
import { limits } from '../../src/limits.ts'
import { lowCost } from '../support/password.ts'

// One hash at the full cost takes 0.2 s of CPU time. The other test of this file uses a low cost.
test('a password is stored as argon2id at the full cost, and the event loop keeps running meanwhile', async () => {
  let beats = 0
  const beat = setInterval(() => {
    beats += 1
  }, 1)
  const hash = await hashPassword('correct horse')
  clearInterval(beat)
  expect(hash).toStartWith(
    `$argon2id$v=19$m=${limits.passwordHashBytes / 1024},t=${limits.passwordHashPasses},p=1$`,
  )
  expect(beats).toBeGreaterThan(2)
})

test('passwords are hashed one after another, each with a new salt, and every character counts', async () => {
  const long = `pass\u0000wörd${'x'.repeat(limits.passwordLengthMax - 9)}`
  const done: number[] = []
  const { hash: hashPlain } = Bun.password
  let running = 0
  let runningMax = 0
  const spy = spyOn(Bun.password, 'hash').mockImplementation(async password => {
    running += 1
    runningMax = Math.max(runningMax, running)
    try {
      return await hashPlain(password, lowCost)
    } finally {
      running -= 1
    }
  })
  // The empty password is refused. The passwords after it must still be hashed.
  const results = await Promise.allSettled(
    ['correct horse', '', 'correct horse', long].map(async (password, at) => {
      const hash = await hashPassword(password)
      done.push(at)
      return hash
    }),
  ).finally(() => spy.mockRestore())
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  expect([done, runningMax]).toEqual([[0, 2, 3], 1])

  const [one, , other, hash] = results.map(result => (result.status === 'fulfilled' ? result.value : ''))
  expect(one).not.toBe(other)
  expect(await Bun.password.verify(long, hash!)).toBe(true)
  expect(await Bun.password.verify(`${long.slice(0, -1)}y`, hash!)).toBe(false)
  expect(await Bun.password.verify('pass', hash!)).toBe(false)
})

test('networks take turns, and the password of a sender who has disconnected is not hashed', async () => {
  const spy = spyOn(Bun.password, 'hash').mockImplementation(async password => `${password}`)
  const order: string[] = []
  const gone = new AbortController()
  const hash = (network: string, password: string, { signal } = new AbortController()) =>
    hashPassword(password, { network, signal }).then(made => order.push(made))
  const work = [hash('a', 'a1'), hash('a', 'a2'), hash('a', 'left', gone), hash('a', 'a3'), hash('b', 'b1')]
  gone.abort()
  const results = await Promise.allSettled(work).finally(() => spy.mockRestore())
  expect(results.map(({ status }) => status === 'rejected')).toEqual([false, false, true, false, false])
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3'])
})
