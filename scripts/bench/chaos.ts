// Callers submit jobs while faults happen: kills, suspensions, a full disk, a locked database, clock steps. At the end,
// every accepted job must have ended exactly once. No money and no webhook event may be lost. STENO_BENCH_KILLS sets
// the number of kills. The full disk needs root, because the benchmark mounts a small file system for it.

import { Database } from 'bun:sqlite'
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccount } from '../../src/accounts/account.ts'
import { createKey } from '../../src/accounts/key.ts'
import { deposit } from '../../src/accounts/ledger.ts'
import { priceOf } from '../../src/accounts/price.ts'
import { openSecrets } from '../../src/base/seal.ts'
import { databasePath } from '../../src/db/db.ts'
import { openDb } from '../../src/db/open-db.ts'
import { limits } from '../../src/limits.ts'
import { defaults } from '../../test/support/defaults.ts'
import { speech } from '../../test/support/media.ts'
import { type Random, seeded } from '../../test/support/random.ts'
import { type Callers, startCallers } from './support/chaos-callers.ts'

export const bench = { name: 'chaos: nothing is lost', run }

const kills = Number(process.env.STENO_BENCH_KILLS ?? 20)
const seed = Number(process.env.STENO_BENCH_SEED ?? 7)
const callersCount = 4
const depositCents = 10_000_000
const hourMs = 3_600_000
/**
 * The timeout of a job in the states `created`, `downloading` and `processing`, in seconds. The benchmark suspends the
 * server process for `suspendMs`, which is longer than this timeout. If the server counted the time in which it was
 * suspended, jobs would time out, and the benchmark would notice this.
 */
const timeoutSeconds = 6
const suspendMs = 8000
const faultMs = 1500
/**
 * After the last fault, the benchmark waits at most this many milliseconds for the callers to stop. The wait for the
 * end of all jobs and webhooks has the same limit.
 */
const endsWithinMs = 90_000

type Room = { mount: string | null; folder: string; dataDir: string; key: string; random: Random }
type Fault = 'kill' | 'full disk' | 'locked database' | 'clock step' | 'suspend'
type Received = { transcription_id: string; event: string }

async function run(): Promise<string[][]> {
  const room = openRoom()
  const received: Received[] = []
  const origin = startOrigin(received, room.random)
  const server = new Server(room)
  const giveUp = new AbortController()
  try {
    await server.start()
    const calls = {
      url: server.url,
      key: room.key,
      webhookUrl: `${origin.url}/hook`,
      mediaUrl: `${origin.url}/a.wav`,
      giveUp: giveUp.signal,
    }
    const callers = startCallers(calls, room.random, callersCount)
    const plan = planOf(room)
    for (const fault of plan) {
      await Bun.sleep(100 + room.random.below(500))
      await faults[fault](server, room)
    }
    const late = setTimeout(() => giveUp.abort(), endsWithinMs)
    await callers.stop()
    clearTimeout(late)
    const endedMs = await untilEnded(room)
    await server.kill()
    return [
      ...table(plan, room, server),
      ...judge(room, callers, received),
      ['ms until all had ended', `${endedMs}`],
    ]
  } finally {
    giveUp.abort()
    await server.kill()
    origin.stop()
    closeRoom(room)
  }
}

function openRoom(): Room {
  const folder = mkdtempSync(join(tmpdir(), 'steno-chaos-'))
  const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=48m', 'steno-chaos', folder])
  const dataDir = join(folder, 'data')
  Bun.spawnSync(['mkdir', '-m', '700', dataDir])
  const db = openDb(dataDir)
  const account = createAccount(db, { email: 'a@example.org', passwordHash: null, verified: true })
  if (!account) throw new Error('no account was made')
  deposit(db, account.id, depositCents)
  const key = createKey(db, openSecrets(dataDir), account.id, { name: null })
  db.close()
  if (!key) throw new Error('no key was made')
  const mount = mounted.exitCode === 0 ? folder : null
  return { mount, folder, dataDir, key: key.key, random: seeded(seed) }
}

function closeRoom({ mount, folder }: Room): void {
  if (mount) Bun.spawnSync(['umount', '-l', mount])
  rmSync(folder, { recursive: true, force: true })
}

function planOf({ mount, random }: Room): Fault[] {
  const plan: Fault[] = [
    ...Array<Fault>(kills).fill('kill'),
    ...Array<Fault>(mount ? 5 : 0).fill('full disk'),
    ...Array<Fault>(5).fill('locked database'),
    ...Array<Fault>(3).fill('clock step'),
    ...Array<Fault>(3).fill('suspend'),
  ]
  return plan
    .map(fault => ({ fault, place: random.next() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ fault }) => fault)
}

const faults: Record<Fault, (server: Server, room: Room) => Promise<void>> = {
  async kill(server) {
    await server.kill()
    await server.start()
  },
  async 'full disk'(_, { folder }) {
    const ballast = join(folder, 'ballast')
    const file = openSync(ballast, 'w')
    const fill = setInterval(() => fillDisk(file), 50)
    await Bun.sleep(faultMs)
    clearInterval(fill)
    closeSync(file)
    rmSync(ballast)
  },
  async 'locked database'(server, { dataDir }) {
    const other = new Database(databasePath(dataDir))
    other.run('pragma busy_timeout = 10000')
    other.run('begin immediate')
    await server.watchHealth(faultMs)
    other.run('rollback')
    other.close()
  },
  async 'clock step'(server, { random }) {
    server.stepClock(random.pick([hourMs, -48 * hourMs, 12 * hourMs]))
  },
  async suspend(server) {
    server.signal('SIGSTOP')
    await Bun.sleep(suspendMs)
    server.signal('SIGCONT')
  },
}

/** Writes large blocks to the open file until the disk is full. Small blocks then fill the remaining space. */
function fillDisk(file: number): void {
  for (const bytes of [2 ** 20, 2 ** 12]) {
    try {
      for (;;) writeSync(file, new Uint8Array(bytes))
    } catch {
      // The write failed as intended: the disk has no space for another block of `bytes` bytes.
    }
  }
}

type Child = Bun.Subprocess<'ignore', 'pipe', 'inherit'>

class Server {
  readonly #room: Room
  #child: Child | null = null
  #clockStepMs = 0
  #starts = 0
  url = ''
  /** For each state of an unfinished job: the number of jobs in this state, summed over all kills of the server. */
  readonly interrupted = new Map<string, number>()
  worstHealthMs = 0
  /** The number of times that the server exited although no fault killed it. */
  crashes = 0

  constructor(room: Room) {
    this.#room = room
  }

  async start(): Promise<void> {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'support/chaos-server.ts')], {
      env: {
        ...process.env,
        STENO_DATA_DIR: this.#room.dataDir,
        STENO_PORT: this.url === '' ? '0' : new URL(this.url).port,
        STENO_RATE_LIMITS: 'off',
        STENO_ALLOW_NETS: '127.0.0.0/8',
        STENO_SWEEP_EVERY: '100ms',
        STENO_DISK_RESERVE: '1MB',
        STENO_TIMEOUT_CREATED: `${timeoutSeconds}s`,
        STENO_TIMEOUT_DOWNLOADING: `${timeoutSeconds}s`,
        STENO_TIMEOUT_PROCESSING: `${timeoutSeconds}s`,
        TEST_SEED: `${seed + this.#starts++}`,
        TEST_CLOCK_STEP: `${this.#clockStepMs}`,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
      ipc: () => {},
    })
    this.#child = child
    void this.#restartAfterCrash(child)
    const { value } = await child.stdout.getReader().read()
    // A started server prints its address. A server that prints nothing has exited: this counts as a crash.
    if (value) this.url = new TextDecoder().decode(value).trim()
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (!child) return
    this.#child = null
    child.kill('SIGKILL')
    await child.exited
    for (const [state, jobs] of countStates(this.#room)) {
      this.interrupted.set(state, (this.interrupted.get(state) ?? 0) + jobs)
    }
  }

  async #restartAfterCrash(child: Child): Promise<void> {
    await child.exited
    if (this.#child !== child) return
    this.crashes += 1
    await this.start()
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(name)
  }

  stepClock(ms: number): void {
    this.#clockStepMs += ms
    this.#child?.send(this.#clockStepMs)
  }

  async watchHealth(ms: number): Promise<void> {
    const end = performance.now() + ms
    while (performance.now() < end) {
      const asked = performance.now()
      await fetch(`${this.url}/v1/health`)
      this.worstHealthMs = Math.max(this.worstHealthMs, performance.now() - asked)
      await Bun.sleep(50)
    }
  }
}

/** Starts a server that receives webhooks and serves a media file after a random delay. */
function startOrigin(received: Received[], random: Random) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'POST') {
        received.push((await request.json()) as Received)
        return new Response()
      }
      await Bun.sleep(random.below(150))
      return new Response(speech(1 + random.below(900)))
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, stop: () => void server.stop(true) }
}

function readAll<Row>({ dataDir }: Room, statement: string): Row[] {
  const db = new Database(databasePath(dataDir), { readonly: true })
  try {
    return db.query<Row, []>(statement).all()
  } finally {
    db.close()
  }
}

function countStates(room: Room): [string, number][] {
  return readAll<{ state: string; jobs: number }>(
    room,
    'select state, count(*) as jobs from jobs where completed_at is null group by state',
  ).map(({ state, jobs }) => [state, jobs])
}

async function untilEnded(room: Room): Promise<number> {
  const began = performance.now()
  const due = `select (select count(*) from jobs where completed_at is null)
    + (select count(*) from webhook_events where sent_at is null) as left`
  while (performance.now() - began < endsWithinMs) {
    if (readAll<{ left: number }>(room, due)[0]?.left === 0) break
    await Bun.sleep(200)
  }
  return Math.round(performance.now() - began)
}

function table(plan: Fault[], { mount }: Room, { interrupted, worstHealthMs, crashes }: Server): string[][] {
  const count = (fault: Fault) => `${plan.filter(each => each === fault).length}`
  return [
    ['what', 'count'],
    ['kills', count('kill')],
    ['unfinished jobs at the kills', [...interrupted].map(([state, jobs]) => `${jobs} ${state}`).join(', ')],
    ['full disks', mount ? count('full disk') : 'skipped: a small file system needs root'],
    ['locked databases', count('locked database')],
    ['longest /v1/health of a locked database, ms', worstHealthMs.toFixed(0)],
    ['clock steps', count('clock step')],
    ['suspends', count('suspend')],
    ['crashes of the server', `${crashes}`],
  ]
}

type Row = {
  id: string
  state: string
  sourceUrl: string | null
  errorCode: string | null
  startedAt: number | null
  durationMs: number | null
  reserves: number
  settles: number
  settled: number
  releases: number
}

/** Returns the table of results. After the row `must be 0:`, each count other than 0 is an error of the server. */
function judge(room: Room, { accepted, cancelled, wrong }: Callers, received: Received[]): string[][] {
  const jobs = readAll<Row>(
    room,
    `select jobs.id, state, source_url as sourceUrl, error_code as errorCode, started_at as startedAt, duration_ms as durationMs,
       count(*) filter (where kind = 'reserve') as reserves, count(*) filter (where kind = 'settle') as settles,
       coalesce(sum(units) filter (where kind = 'settle'), 0) as settled,
       count(*) filter (where kind = 'release') as releases
     from jobs left join ledger on ledger.job_id = jobs.id group by jobs.id`,
  )
  const known = new Map(jobs.map(job => [job.id, job]))
  const count = (matches: (job: Row) => boolean) => `${jobs.filter(matches).length}`
  const isCompleted = ({ state }: Row) => state === 'completed'
  const failed = jobs.filter(job => job.state === 'failed' && !cancelled.has(job.id))
  // A download to a full disk must fail with INTERNAL_ERROR, so these failures are not errors of the server.
  const noRoom = failed.filter(job => job.sourceUrl !== null && job.errorCode === 'INTERNAL_ERROR')
  const strange = failed.filter(job => !noRoom.includes(job))
  return [
    ['jobs accepted', `${accepted.size}`],
    ['completed', count(isCompleted)],
    ['cancelled', `${cancelled.size}`],
    ['downloads that a full disk failed', `${noRoom.length}`],
    ['events received', `${received.length}`],
    ['events that came twice, after a kill', `${countRepeats(received)}`],
    ['must be 0:', ''],
    ['accepted jobs that are gone', `${[...accepted].filter(id => !known.has(id)).length}`],
    ['jobs that did not end', count(({ state }) => state !== 'completed' && state !== 'failed')],
    ['jobs that failed by a fault', [`${strange.length}`, ...strange.map(job => job.errorCode)].join(' ')],
    ['jobs that no caller asked for', count(({ id }) => !accepted.has(id))],
    [
      'cancelled jobs that completed',
      `${[...cancelled].filter(id => known.get(id)?.state !== 'failed').length}`,
    ],
    ['jobs charged twice', count(({ settles }) => settles > 1)],
    ['jobs charged a wrong price', count(job => job.settled !== (isCompleted(job) ? priceOfJob(job) : 0))],
    ['reserves that never ended', count(job => job.reserves !== job.settles + job.releases)],
    ['units by which the balance is off', `${balanceOff(room, jobs)}`],
    ...judgeEvents(jobs, received),
    ['drafts left', `${draftsIn(room)}`],
    ['wrong answers', [`${wrong.length}`, ...wrong.slice(0, 3)].join(' ')],
  ]
}

function priceOfJob({ durationMs }: Row): number {
  return priceOf(durationMs ?? 0, defaults.pricePerHourCents)
}

function balanceOff(room: Room, jobs: Row[]): number {
  const charged = jobs
    .filter(({ state }) => state === 'completed')
    .reduce((sum, job) => sum + priceOfJob(job), 0)
  const [account] = readAll<{ balance: number; reserved: number }>(
    room,
    'select balance_units as balance, reserved_units as reserved from accounts',
  )
  if (!account) throw new Error('the account is gone')
  return Math.abs(depositCents * limits.unitsPerCent - charged - account.balance) + account.reserved
}

function nameOf({ transcription_id, event }: Received): string {
  return `${transcription_id} ${event}`
}

function countRepeats(received: Received[]): number {
  return received.length - new Set(received.map(nameOf)).size
}

function judgeEvents(jobs: Row[], received: Received[]): string[][] {
  const expected = jobs.flatMap(({ id, state, startedAt }) => [
    ...(startedAt === null ? [] : [`${id} transcription.processing`]),
    `${id} transcription.${state}`,
  ])
  const came = received.map(nameOf)
  const first = new Map(came.map((event, at) => [event, at] as const).toReversed())
  const misordered = jobs.filter(({ id, state }) => {
    const processing = first.get(`${id} transcription.processing`) ?? -1
    return processing > (first.get(`${id} transcription.${state}`) ?? Number.POSITIVE_INFINITY)
  })
  return [
    ['events lost', `${expected.filter(event => !first.has(event)).length}`],
    [
      'events that nothing explains',
      `${[...first.keys()].filter(event => !new Set(expected).has(event)).length}`,
    ],
    ['events out of order', `${misordered.length}`],
  ]
}

function draftsIn({ dataDir }: Room): number {
  return ['uploads', 'media'].flatMap(name =>
    readdirSync(join(dataDir, name)).filter(file => file.includes('.')),
  ).length
}
