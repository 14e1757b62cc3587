// Tests how a server with workers and an own engine shares jobs between the two. The fleet of workers is simulated.

import { expect, test } from 'bun:test'
import { Engines } from '../../src/workers/engines.ts'
import type { Fleet, OwnEngine } from '../../src/workers/fleet.ts'
import { TakenBack } from '../../src/workers/hand-over.ts'
import { steeredEngine, transcriptOf } from '../support/engine.ts'
import { plainInput } from '../support/plain-input.ts'

test('a job that a worker holds stays with the workers, although the own engine is free', async () => {
  const { engines, own, fleet } = start()
  await engines.transcribe(plainInput(), optionsOf('held', 'gpu-1'))
  expect([own.tasks.length, fleet.jobs]).toEqual([0, ['held']])
})

test('a job that the own engine takes over counts at once, and its end makes room for the next one', async () => {
  const { engines, own, fleet } = start()
  fleet.own?.take('taken')
  expect([fleet.own?.hasRoom(), engines.waitingJobs()]).toEqual([false, []])
  const done = engines.transcribe(plainInput(), optionsOf('taken', null))
  own.finish(await own.given(1))
  await done
  expect([fleet.own?.hasRoom(), fleet.rescues]).toEqual([true, 1])
})

test('a server whose own engine is not ready has the state of its workers, if one of them is ready', () => {
  const { engines, own, fleet } = start()
  own.setReady(false)
  expect(engines.state().message).toBe('workers')
  fleet.ready = false
  expect(engines.state().message).toBe('not yet')
})

function optionsOf(jobId: string, worker: string | null) {
  const handOver = { jobId, worker, fence: 0, attempts: 0 }
  return { signal: new AbortController().signal, onSeconds() {}, handOver }
}

/**
 * Starts the engine of the server, which does one job at a time, and a simulated fleet of workers. The fleet completes
 * each job at once, but gives the job with the id `taken` back to the server.
 */
function start() {
  const fleet = {
    own: null as OwnEngine | null,
    jobs: [] as string[],
    rescues: 0,
    ready: true,
    state: () => ({ ready: fleet.ready, message: 'workers' }),
    serves: () => true,
    waitingJobs: () => [],
    rescue: () => void fleet.rescues++,
    async transcribe(input: ReturnType<typeof plainInput>, { handOver }: ReturnType<typeof optionsOf>) {
      fleet.jobs.push(handOver.jobId)
      if (handOver.jobId === 'taken') throw new TakenBack()
      return transcriptOf(input, 'Hello.')
    },
  }
  const own = steeredEngine()
  return { engines: new Engines(fleet as unknown as Fleet, own), own, fleet }
}
