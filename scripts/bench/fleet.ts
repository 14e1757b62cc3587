// Passes many jobs to many workers, through a real nats-server and a real steno server. The engines sleep for as long
// as a GPU would work. In a few jobs, the engine fails or the worker disappears for a while. Sometimes a process with
// workers is killed. The server must charge each completed job exactly once. A job may fail only after four attempts.
//
// STENO_BENCH_WORKERS: the number of workers.
// STENO_BENCH_JOBS: the number of jobs.
// STENO_BENCH_SPEED: the seconds of audio that a worker recognises in a second.

import { Database } from 'bun:sqlite'
import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { priceOf } from '../../src/accounts/price.ts'
import type { Secrets } from '../../src/base/seal.ts'
import { type Db, databasePath } from '../../src/db/db.ts'
import { createJob } from '../../src/jobs/create.ts'
import { queueJob } from '../../src/jobs/queue.ts'
import { makeAccount } from '../../test/support/account.ts'
import { defaults } from '../../test/support/defaults.ts'
import { hasNats, launchNats } from '../../test/support/find-nats.ts'
import { plainJob } from '../../test/support/plain-job.ts'
import { seeded } from '../../test/support/random.ts'
import { cpuSeconds, type Prepared, prepareData, type Ready, serve } from '../../test/support/server.ts'
import type { Order } from './support/fleet-workers.ts'

export const bench = { name: 'Workers: jobs through NATS, engines that sleep', run }

const workers = Number(process.env.STENO_BENCH_WORKERS ?? 20)
const jobs = Number(process.env.STENO_BENCH_JOBS ?? 500)
const speed = Number(process.env.STENO_BENCH_SPEED ?? 400)
const accounts = 100
const workersPerProcess = 100
/**
 * A process with workers is killed and started again each time this share of the jobs has ended, but not after the last
 * job.
 */
const killEveryShare = 0.2
const faultShare = 0.01
const random = seeded(7)

type Sample = { done: number; rssMb: number; cpuSeconds: number; at: number }

async function run(): Promise<string[][]> {
  if (!hasNats) return [['skipped: there is no nats-server here']]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))
  const data = prepareData((db, _, secrets) => fill(db, secrets))
  cleanup.defer(() => data.remove())
  layMedia(data)
  const nats = await launchNats(join(folder, 'nats'))
  cleanup.defer(() => nats.stop())
  const server = await serve(data, {
    STENO_NATS: nats.url,
    STENO_WORKERS: '0',
    STENO_WORKER_LEASE: '10s',
    STENO_LOG_LEVEL: 'error',
  })
  cleanup.defer(() => server.stop())
  const fleet = new Fleet({ nats: nats.url, server: `http://127.0.0.1:${server.port}`, folder })
  cleanup.defer(() => fleet.stop())
  await fleet.start()
  const { samples, kills } = await watch(data, server, fleet)
  return [['what', 'count'], ...speeds(samples), ['processes of workers killed', `${kills}`], ...judge(data)]
}

/** Creates accounts, and pending jobs with one to five minutes of audio each. */
function fill(db: Db, secrets: Secrets): void {
  db.tx(() => {
    const owners = Array.from({ length: accounts }, (_, at) =>
      makeAccount(db, secrets, `caller${at}@example.org`, 1_000_000),
    )
    for (let count = 0; count < jobs; count++) {
      const owner = random.pick(owners)
      const id = createJob(db, owner.accountId, plainJob(owner.keyId, { language: 'en' }))
      const durationMs = 60_000 + random.below(240_000)
      queueJob(db, id, { durationMs, channels: 1, pricePerHourCents: defaults.pricePerHourCents })
    }
  })
}

/** The number of hard links to one file after which a new file is used. The file system ext4 allows at most 65,000. */
const linksMax = 50_000

/** Gives each job a media file. These files are hard links to a few real files. */
function layMedia({ dataDir }: Prepared): void {
  const folder = join(dataDir, 'media')
  mkdirSync(folder, { mode: 0o700 })
  const original = join(dataDir, 'original')
  for (const [index, { id }] of readAll<{ id: string }>({ dataDir }, 'select id from jobs').entries()) {
    if (index % linksMax === 0) {
      rmSync(original, { force: true })
      writeFileSync(original, 'sound of a file')
    }
    linkSync(original, join(folder, id))
  }
  rmSync(original, { force: true })
}

/** The child processes in which the workers run. Each process runs many workers. */
class Fleet {
  readonly #places: Pick<Order, 'nats' | 'server' | 'folder'>
  readonly #children = new Map<number, Bun.Subprocess>()
  #seed = 1

  constructor(places: Pick<Order, 'nats' | 'server' | 'folder'>) {
    this.#places = places
  }

  async start(): Promise<void> {
    const firsts = Array.from(
      { length: Math.ceil(workers / workersPerProcess) },
      (_, at) => at * workersPerProcess,
    )
    await Promise.all(firsts.map(first => this.#begin(first)))
  }

  /** Kills one of the processes that run workers, and starts it again. */
  async killOne(): Promise<void> {
    const [first, child] = random.pick([...this.#children])
    child.kill('SIGKILL')
    await child.exited
    await this.#begin(first)
  }

  async stop(): Promise<void> {
    for (const child of this.#children.values()) child.kill('SIGKILL')
    await Promise.all([...this.#children.values()].map(child => child.exited))
  }

  async #begin(first: number): Promise<void> {
    const count = Math.min(workersPerProcess, workers - first)
    const order: Order = { ...this.#places, first, count, speed, faultShare, seed: this.#seed++ }
    const script = join(import.meta.dir, 'support/fleet-workers.ts')
    const child = Bun.spawn([process.execPath, script, JSON.stringify(order)], {
      env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: '4096' },
      stdout: 'pipe',
      stderr: 'ignore',
    })
    this.#children.set(first, child)
    await child.stdout.getReader().read()
  }
}

/** Waits until all jobs have ended. Measures the server every second. Sometimes kills a process with workers. */
async function watch(
  data: Prepared,
  server: Ready,
  fleet: Fleet,
): Promise<{ samples: Sample[]; kills: number }> {
  const samples: Sample[] = []
  let kills = 0
  for (;;) {
    const [row] = readAll<{ done: number }>(
      data,
      'select count(*) as done from jobs where completed_at is not null',
    )
    const done = row?.done ?? 0
    samples.push({ done, rssMb: server.rssMb(), cpuSeconds: cpuSeconds(server.pid), at: performance.now() })
    if (done === jobs) return { samples, kills }
    if (done >= (kills + 1) * killEveryShare * jobs) {
      kills += 1
      await fleet.killOne()
    }
    await Bun.sleep(1000)
  }
}

function speeds(samples: readonly Sample[]): string[][] {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last) throw new Error('there are no samples')
  const seconds = (last.at - first.at) / 1000
  const cpu = last.cpuSeconds - first.cpuSeconds
  const quarters = [0.25, 0.5, 0.75, 1].map(share => {
    const sample = samples.find(({ done }) => done >= share * jobs)
    return sample?.rssMb.toFixed(0) ?? '-'
  })
  return [
    ['workers', `${workers}`],
    ['jobs', `${jobs}`],
    ['jobs per second', (jobs / seconds).toFixed(0)],
    ['CPU of the server, ms per job', ((1000 * cpu) / jobs).toFixed(2)],
    ['CPU of the server, cores', (cpu / seconds).toFixed(2)],
    ['RSS of the server after each quarter, MB', quarters.join(', ')],
    ['RSS of the server, most, MB', Math.max(...samples.map(({ rssMb }) => rssMb)).toFixed(0)],
  ]
}

type Row = {
  state: string
  durationMs: number
  attempts: number
  settles: number
  settled: number
  releases: number
}

/** Returns the table of results. After the row `must be 0:`, each count other than 0 is an error of the server. */
function judge(data: Prepared): string[][] {
  const rows = readAll<Row>(
    data,
    // The subquery groups the ledger entries by job. Without it, SQLite would search the whole ledger for each job.
    `select state, duration_ms as durationMs, attempts, coalesce(settles, 0) as settles,
       coalesce(settled, 0) as settled, coalesce(releases, 0) as releases
     from jobs left join (
       select job_id, count(*) filter (where kind = 'settle') as settles,
         sum(units) filter (where kind = 'settle') as settled,
         count(*) filter (where kind = 'release') as releases
       from ledger group by job_id
     ) on job_id = jobs.id`,
  )
  const count = (matches: (row: Row) => boolean) => `${rows.filter(matches).length}`
  const [reserved] = readAll<{ units: number }>(data, 'select sum(reserved_units) as units from accounts')
  return [
    ['jobs that needed more than one attempt', count(({ attempts }) => attempts > 1)],
    [
      'jobs that failed after four attempts',
      count(({ state, attempts }) => state === 'failed' && attempts === 4),
    ],
    ['must be 0:', ''],
    ['jobs that failed earlier', count(({ state, attempts }) => state === 'failed' && attempts < 4)],
    [
      'completed jobs that were not charged once',
      count(({ state, settles }) => state === 'completed' && settles !== 1),
    ],
    ['failed jobs that were charged', count(({ state, settles }) => state === 'failed' && settles !== 0)],
    [
      'jobs charged a wrong price',
      count(
        ({ settles, settled, durationMs }) =>
          settled !== settles * priceOf(durationMs, defaults.pricePerHourCents),
      ),
    ],
    ['units that are still reserved', `${reserved?.units ?? 0}`],
  ]
}

function readAll<Found>({ dataDir }: { dataDir: string }, statement: string): Found[] {
  const db = new Database(databasePath(dataDir), { readonly: true })
  try {
    return db.query<Found, []>(statement).all()
  } finally {
    db.close()
  }
}
