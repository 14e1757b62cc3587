import { expect, test } from 'bun:test'
import { reused } from '../../src/base/reused.ts'

test('a result is reused while it is read, and then for a multiple of the time that it took', async () => {
  let now = 0
  let reads = 0
  const reading = Promise.withResolvers<void>()
  const read = reused(
    async () => {
      reads += 1
      const number = reads
      await reading.promise
      return number
    },
    { ratio: 20, clock: () => now },
  )
  const both = [read(), read()]
  now = 1000
  expect(read()).toBe(both[0] as Promise<number>)
  reading.resolve()
  expect(await Promise.all(both)).toEqual([1, 1])
  now = 20_999
  expect(await read()).toBe(1)
  now = 21_000
  expect(await read()).toBe(2)
})

test('a failed read is not reused', async () => {
  let reads = 0
  const read = reused(
    async () => {
      reads += 1
      if (reads === 1) throw new Error('locked')
      return reads
    },
    { ratio: 20, clock: () => 0 },
  )
  await expect(read()).rejects.toThrow('locked')
  expect(await read()).toBe(2)
})
