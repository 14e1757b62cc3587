import { expect, test } from 'bun:test'
import { openSemaphore } from '../../src/base/semaphore.ts'

test('no more run at once than there are slots, and the others start in order', async () => {
  const semaphore = openSemaphore(2)
  const started: number[] = []
  const running = new Map<number, () => void>()
  const works = [0, 1, 2, 3].map(id => semaphore.run(() => hold(id)))
  expect(started).toEqual([])
  await turn()
  expect(started).toEqual([0, 1])
  running.get(1)!()
  await works[1]
  await turn()
  expect(started).toEqual([0, 1, 2])
  for (const id of [0, 2]) running.get(id)!()
  await Promise.all([works[0], works[2]])
  await turn()
  expect(started).toEqual([0, 1, 2, 3])
  running.get(3)!()
  expect(await Promise.all(works)).toEqual([0, 1, 2, 3])

  function hold(id: number): Promise<number> {
    started.push(id)
    return new Promise(resolve => running.set(id, () => resolve(id)))
  }
})

test('work that fails gives its slot back', async () => {
  const semaphore = openSemaphore(1)
  const failing = semaphore
    .run(async () => {
      throw new Error('broken')
    })
    .catch(error => error.message)
  const next = semaphore.run(async () => 'done')
  expect(await Promise.all([failing, next])).toEqual(['broken', 'done'])
})

test('work whose signal fires while it waits never runs, and the others still do', async () => {
  const semaphore = openSemaphore(1)
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const first = semaphore.run(() => held)
  const stop = new AbortController()
  const ran: string[] = []
  const gone = semaphore.run(async () => ran.push('gone'), stop.signal).catch(reason => reason)
  const last = semaphore.run(async () => ran.push('last'))
  stop.abort('enough')
  expect(await gone).toBe('enough')
  release()
  await Promise.all([first, last])
  expect(ran).toEqual(['last'])
  expect(await semaphore.run(async () => 'free again')).toBe('free again')
})

test('a signal that has already fired takes no slot', async () => {
  const semaphore = openSemaphore(1)
  const refused = await semaphore.run(async () => 'ran', AbortSignal.abort('late')).catch(reason => reason)
  expect(refused).toBe('late')
  expect(await semaphore.run(async () => 'free')).toBe('free')
})

/** Resolves when all pending promises have gone on. */
function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
