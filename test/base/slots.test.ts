import { expect, test } from 'bun:test'
import { openSlots } from '../../src/base/slots.ts'

test('so many run at once, the others in the order they came', async () => {
  const slots = openSlots(2)
  const [started, running] = [[] as number[], new Map<number, () => void>()]
  const works = [0, 1, 2, 3].map(each => slots.run(() => hold(each)))
  expect(started).toEqual([])
  await turn()
  expect(started).toEqual([0, 1])
  running.get(1)!()
  await works[1]
  await turn()
  expect(started).toEqual([0, 1, 2])
  for (const each of [0, 2]) running.get(each)!()
  await Promise.all([works[0], works[2]])
  await turn()
  expect(started).toEqual([0, 1, 2, 3])
  running.get(3)!()
  expect(await Promise.all(works)).toEqual([0, 1, 2, 3])

  function hold(each: number): Promise<number> {
    started.push(each)
    return new Promise(resolve => running.set(each, () => resolve(each)))
  }
})

test('work that fails gives its slot back', async () => {
  const slots = openSlots(1)
  const failing = slots
    .run(async () => {
      throw new Error('broken')
    })
    .catch(error => error.message)
  const next = slots.run(async () => 'done')
  expect(await Promise.all([failing, next])).toEqual(['broken', 'done'])
})

test('who gives up while waiting leaves the line, and takes nobody else along', async () => {
  const slots = openSlots(1)
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const first = slots.run(() => held)
  const stop = new AbortController()
  const ran: string[] = []
  const gone = slots.run(async () => ran.push('gone'), stop.signal).catch(reason => reason)
  const last = slots.run(async () => ran.push('last'))
  stop.abort('enough')
  expect(await gone).toBe('enough')
  release()
  await Promise.all([first, last])
  expect(ran).toEqual(['last'])
  expect(await slots.run(async () => 'free again')).toBe('free again')
})

test('a signal that has fired already takes no slot', async () => {
  const slots = openSlots(1)
  const refused = await slots.run(async () => 'ran', AbortSignal.abort('late')).catch(reason => reason)
  expect(refused).toBe('late')
  expect(await slots.run(async () => 'free')).toBe('free')
})

/** Everything that is ready to go on has gone on. */
function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
