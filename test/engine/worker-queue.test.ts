import { expect, test } from 'bun:test'
import { Retries } from '../../src/engine/retries.ts'
import type { Worker } from '../../src/engine/worker.ts'
import { WorkerQueue } from '../../src/engine/worker-queue.ts'

/** Returns a fake worker, which only has a name. */
const worker = (name: string) => ({ name }) as unknown as Worker

test('an abort after a job has its worker does not remove another job that waits', async () => {
  const queue = new WorkerQueue()
  const [first, second] = [new AbortController(), new AbortController()]
  const waiting = [first, second].map(({ signal }) => queue.wait(signal))
  const [one, other] = [worker('one'), worker('other')]
  queue.add(one)
  first.abort()
  queue.add(other)
  expect(queue.idle).toBe(0)
  expect(await Promise.all(waiting)).toEqual([one, other])
})

test('a job that stops waiting gets no worker, and an idle worker is given once', async () => {
  const queue = new WorkerQueue()
  const stop = new AbortController()
  const waiting = queue.wait(stop.signal)
  stop.abort(new Error('cancelled'))
  await expect(waiting).rejects.toThrow('cancelled')
  const one = worker('one')
  queue.add(one)
  expect([queue.takeIdle(), queue.takeIdle()]).toEqual([one, undefined])
})

test('the pauses between attempts double up to their maximum, and closing ends a pause', async () => {
  const retries = new Retries({ pauseMs: 1, pauseMsMax: 5 })
  const pauses: number[] = []
  const { sleep } = retries
  retries.sleep = async ms => void pauses.push(ms)
  let attempts = 0
  await retries.run(async () => ++attempts === 6)
  expect(pauses).toEqual([1, 2, 4, 5, 5])
  const slept = sleep.call(retries, 60_000)
  retries.close()
  expect(await slept).toBeUndefined()
})
