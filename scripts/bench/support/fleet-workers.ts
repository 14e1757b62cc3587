// Many workers in one process, for the benchmark `fleet`. Their engines sleep for as long as a GPU would work. In some
// jobs, the engine fails, or the worker disappears and returns later.

import { join } from 'node:path'
import { JobFailure } from '../../../src/errors.ts'
import { Worker } from '../../../src/workers/worker.ts'
import { steeredEngine, transcriptOf } from '../../../test/support/engine.ts'
import { seeded } from '../../../test/support/random.ts'

export type Order = {
  nats: string
  server: string
  folder: string
  /** The first worker has the number `first` in its name, and the last worker has `first + count - 1`. */
  first: number
  count: number
  /** The seconds of audio that an engine recognises in a second. */
  speed: number
  faultShare: number
  seed: number
}

const words = 'We will meet again on Thursday at the usual place.'

if (import.meta.main) await hold(JSON.parse(process.argv[2] ?? '') as Order)

async function hold(order: Order): Promise<void> {
  const numbers = Array.from({ length: order.count }, (_, at) => order.first + at)
  await Promise.all(numbers.map(number => openWorker(order, number)))
  console.log('ready')
  await new Promise(() => {})
}

async function openWorker(order: Order, number: number): Promise<void> {
  const random = seeded(order.seed * 1000 + number)
  const settings = {
    address: order.nats,
    credentials: null,
    cluster: 'main',
    name: `gpu-${number}`,
    server: order.server,
    folder: join(order.folder, `${number}`),
  }
  const engine = {
    ...steeredEngine(),
    async transcribe(...[input, { signal }]: Parameters<ReturnType<typeof steeredEngine>['transcribe']>) {
      const workMs = input.durationMs / order.speed
      const isFaulty = random.next() < order.faultShare
      await pause(isFaulty ? workMs * random.next() : workMs, signal)
      if (!isFaulty) return transcriptOf(input, words)
      if (random.below(2) === 0) throw new JobFailure('PROCESSING_ERROR')
      // The worker closes without a result for the job, and then a new worker with the same name starts. The pause ends
      // when the closing aborts the job. The server gives the job to a worker again after a timeout (the lease).
      const left = leave()
      await pause(Number.MAX_SAFE_INTEGER, signal)
      await left
      throw new Error('the worker has left')
    },
  }
  let worker = await Worker.open(settings, engine, new AbortController().signal)
  async function leave(): Promise<void> {
    await worker.close()
    worker = await Worker.open(settings, engine, new AbortController().signal)
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(resolve, Math.min(ms, 2 ** 31 - 1))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
