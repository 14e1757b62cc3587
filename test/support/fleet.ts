// Starts a server, usually without an engine of its own, and workers in the test process.

import { type Hello, protocol } from '../../src/workers/requests.ts'
import { type SteeredEngine, steeredEngine } from './engine.ts'
import { startTestService, type TestService } from './service.ts'
import { startWorker } from './workers.ts'

let clusters = 0

/**
 * Starts a server in a new cluster, or in the cluster that STENO_CLUSTER names. The returned function `startOwn` starts
 * a worker in the cluster of the server. STENO_WORKERS is the number of engine processes of the server itself. Here it
 * is 0 by default, so only workers do jobs. If a test sets another number, the server does jobs too, with the engine
 * `own`.
 */
export async function startFleet(
  nats: string,
  settings: Record<string, string> = {},
  dataDir?: string,
  own: SteeredEngine = steeredEngine(),
) {
  const cluster = settings.STENO_CLUSTER ?? `test-${++clusters}`
  const service = await startTestService({
    program: null,
    parts: { engine: own },
    settings: {
      STENO_NATS: nats,
      STENO_WORKERS: '0',
      STENO_WORKER_LEASE: '1s',
      STENO_RATE_LIMITS: 'off',
      STENO_CLUSTER: cluster,
      ...settings,
    },
    ...(dataDir === undefined ? {} : { dataDir }),
  })
  const startOwn = (name = 'gpu-1', engine: SteeredEngine = steeredEngine(), server = service.url) =>
    startWorker({ nats, server, name, cluster, engine })
  return { service, cluster, startOwn }
}

/** Returns the message `hello` of a simulated worker without jobs. The worker can translate and diarize. */
export function helloOf(languages: string[]): Hello {
  return {
    protocol,
    session: 'x',
    version: '1',
    ready: true,
    message: 'ready',
    device: 'none',
    model: 'steered',
    languages,
    translates: true,
    diarization: 'ready',
    slots: 1,
    speed: null,
    jobs: [],
  }
}

/** Waits until `holds` returns true. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(15)
}

/** Returns the kinds (such as `reserve`) of the ledger entries of a job, oldest first. */
export function charges({ db }: Pick<TestService, 'db'>, jobId: string): string[] {
  return db
    .list<{ kind: string }>('select kind from ledger where job_id = $jobId order by id', { jobId })
    .map(({ kind }) => kind)
}
