// A simulator for jobs, the ledger and webhooks. The real code runs with a simulated clock, network, engine and
// callers. In each step, the simulator completes an operation, sends a request, runs the periodic work of the service
// (the sweeps), changes a clock, or causes a fault. The same seed always gives the same run.

import { Database } from 'bun:sqlite'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createAccount } from '../../src/accounts/account.ts'
import { createKey } from '../../src/accounts/key.ts'
import { deposit } from '../../src/accounts/ledger.ts'
import { priceOf } from '../../src/accounts/price.ts'
import { openSecrets, type Secrets } from '../../src/base/seal.ts'
import { openUptime } from '../../src/base/uptime.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { type Db, databasePath } from '../../src/db/db.ts'
import { openDb } from '../../src/db/open-db.ts'
import { refusalOf } from '../../src/db/refusal.ts'
import { ApiError, JobFailure } from '../../src/errors.ts'
import { removeLeftovers } from '../../src/jobs/leftovers.ts'
import { LiveJobs } from '../../src/jobs/live.ts'
import { makeMediaFolders } from '../../src/jobs/media-files.ts'
import { Runner } from '../../src/jobs/runner.ts'
import { submitJob } from '../../src/jobs/submit.ts'
import { WebhookSender } from '../../src/jobs/webhook-sender.ts'
import { limits } from '../../src/limits.ts'
import { steeredEngine, transcriptOf } from './engine.ts'
import { speech, statedMedia } from './media.ts'
import { type Random, seeded } from './random.ts'

const stepsMax = 120
const quietStepsMax = 3000
const depositCents = 10_000
const sweepEveryMs = 60_000
/**
 * The folder for the data of a simulation, in memory if /dev/shm exists. On a disk, a simulation spends most of its
 * time on flushes of the database.
 */
const fastFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** Runs the simulation of one seed. Returns a message for each broken rule. */
export async function simulate(seed: number): Promise<string[]> {
  const world = new World(seed)
  try {
    await world.run()
    return world.broken()
  } finally {
    world.close()
  }
}

type Operation = { resolve: () => void; reject: (reason: unknown) => void }
/** The parts of the service that are created again at each start. */
type Life = { db: Db; runner: Runner; webhooks: WebhookSender }
/**
 * The database content that survives a simulated power cut: the database file with which the simulation started, and
 * the first `logBytes` bytes of the write-ahead log. `number` is the number of the flush that saved this content.
 */
type Durable = { number: number; logBytes: number }
type Caller = { accountId: string; keyId: string }

/** The files, by name, with which every simulation starts: a data folder with two accounts. */
type Start = { files: Map<string, Uint8Array>; callers: Caller[] }

let start: Start | null = null

/**
 * The page size of the simulated databases. SQLite writes whole pages. With its default of 4096 bytes, the simulation
 * takes a quarter more CPU time.
 */
const pageBytes = 1024

function makeStart(): Start {
  const folder = mkdtempSync(join(fastFolder, 'steno-simulation-'))
  const secrets = openSecrets(folder)
  const empty = new Database(databasePath(folder))
  empty.run(`pragma page_size = ${pageBytes}`)
  empty.run('vacuum')
  empty.close()
  const db = openDb(folder)
  const callers = ['ana', 'ben'].map(name => {
    const account = createAccount(db, { email: `${name}@example.org`, passwordHash: null, verified: true })
    if (!account) throw new Error('no account was made')
    deposit(db, account.id, depositCents)
    const key = createKey(db, secrets, account.id, { name: null })
    if (!key) throw new Error('no key was made')
    return { accountId: account.id, keyId: key.id }
  })
  db.checkpoint()
  db.close()
  const files = new Map(readdirSync(folder).map(name => [name, readFileSync(join(folder, name))]))
  rmSync(folder, { recursive: true })
  return { files, callers }
}

class World {
  readonly #random: Random
  readonly #folder = mkdtempSync(join(fastFolder, 'steno-simulation-'))
  readonly #config: Config
  readonly #secrets: Secrets
  readonly #callers: Caller[]
  /** The operations of the simulated service that have not ended. A kill of the service removes them. */
  #pending: Operation[] = []
  #life: Life
  /**
   * A connection with an open read transaction, which keeps SQLite from overwriting or removing the write-ahead log.
   * The log therefore has all changes since the start.
   */
  #reader: Database
  #lock: Database | null = null
  #flushes = 0
  /**
   * The content that the newest completed flush saved. After a simulated power cut, the service starts with this
   * content.
   */
  #durable: Durable = { number: 0, logBytes: 0 }
  /** The length of the media file of each job, in seconds. */
  readonly #seconds = new Map<string, number>()
  #wallMs = 1_800_000_000_000
  #monotonicMs = 0
  #isQuiet = false
  /** `#accepted` maps the id of each accepted job to its caller. `#cancelled` has the ids of the cancelled jobs. */
  readonly #accepted = new Map<string, Caller>()
  readonly #cancelled = new Set<string>()
  /** The job id and the event of every webhook, in the order of their arrival. */
  readonly #told: string[] = []

  constructor(seed: number) {
    this.#random = seeded(seed)
    this.#config = readConfig({ STENO_DATA_DIR: this.#folder })
    makeMediaFolders(this.#folder)
    start ??= makeStart()
    for (const [name, bytes] of start.files) writeFileSync(join(this.#folder, name), bytes)
    this.#callers = start.callers
    this.#secrets = openSecrets(this.#folder)
    this.#reader = this.#openReader()
    this.#life = this.#start()
  }

  async run(): Promise<void> {
    for (let step = 0; step < stepsMax; step++) {
      this.#step()
      await drained()
    }
    // The simulator causes no more faults, so all jobs and webhooks must end. If the service has forgotten a job by
    // mistake, a restart would continue the job and hide this fault. Therefore only half of the simulations restart the
    // service here.
    this.#isQuiet = true
    this.#unlock()
    if (this.#random.below(2) === 0) this.#restart('kill')
    for (let step = 0; step < quietStepsMax; step++) {
      await drained()
      const operation = this.#takePending()
      if (operation) operation.resolve()
      else if (step % 2 === 0) this.#sweep()
      else if (this.#isDone()) return
    }
  }

  close(): void {
    this.#unlock()
    this.#life.db.close()
    this.#reader.close()
    rmSync(this.#folder, { recursive: true })
  }

  #step(): void {
    const dice = this.#random.below(100)
    if (dice < 55) this.#takePending()?.resolve()
    else if (dice < 70) void this.#submit()
    else if (dice < 76) void this.#cancel()
    else if (dice < 80) this.#delete()
    else if (dice < 88) this.#sweep()
    else if (dice < 90) this.#takePending()?.reject(new JobFailure('DOWNLOAD_FAILED'))
    else if (dice < 93) this.#lockOrUnlock()
    else if (dice < 95) this.#wallMs += this.#random.pick([3_600_000, -172_800_000])
    else if (dice < 97) this.#monotonicMs += 86_400_000
    else this.#restart(this.#random.pick(['kill', 'power cut', 'second server']))
  }

  /**
   * Returns a promise for an operation of the network, the engine or the disk. It is pending until the simulator
   * settles it, or `signal` is aborted.
   */
  #operation(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const operation = { resolve, reject }
      this.#pending.push(operation)
      signal?.addEventListener('abort', () => {
        this.#pending = this.#pending.filter(each => each !== operation)
        reject(signal.reason)
      })
    })
  }

  #takePending(): Operation | null {
    const [operation] = this.#pending.splice(this.#random.below(this.#pending.length), 1)
    return operation ?? null
  }

  #start(): Life {
    const uptime = openUptime(() => this.#monotonicMs, { stepMsMax: 2 * sweepEveryMs })
    const db = openDb(this.#folder, { clock: () => this.#wallMs, uptime, busyMs: 0 })
    db.durable = () => this.#flush()
    const webhooks = new WebhookSender({
      db,
      secrets: this.#secrets,
      monotonic: () => this.#monotonicMs,
      deliver: async (_url, body) => {
        await this.#operation().catch(() => {})
        const { transcription_id, event } = JSON.parse(body) as Record<string, string>
        this.#told.push(`${transcription_id} ${event}`)
        await this.#operation().catch(() => {})
        return { kind: 'delivered', status: 200 }
      },
      retries: 0,
      onOutcome: () => {},
    })
    const runner = new Runner({
      ...this.#outside(),
      db,
      live: new LiveJobs(db),
      config: this.#config,
      secrets: this.#secrets,
      webhooks,
      onEnd: () => {},
    })
    removeLeftovers(db, this.#folder)
    runner.resume()
    webhooks.resume()
    return { db, runner, webhooks }
  }

  #outside() {
    const engine = steeredEngine({ capacity: 2 })
    engine.transcribe = async (input, { signal, onSeconds }) => {
      await this.#operation(signal)
      onSeconds(1)
      await this.#operation(signal)
      return transcriptOf(input, 'Hello there.')
    }
    return {
      engine,
      media: {
        inspect: async (path: string, options: { signal: AbortSignal }) => {
          await this.#operation(options.signal)
          return statedMedia.inspect(path, options)
        },
      },
      pause: () => this.#operation().catch(() => {}),
      download: async (_url: string, path: string, { signal }: { signal: AbortSignal }) => {
        writeFileSync(path, 'torn')
        await this.#operation(signal)
        const bytes = speech(this.#secondsOf(basename(path)))
        writeFileSync(path, bytes)
        return { bytes: bytes.length }
      },
    }
  }

  /** Returns the length of a job's media file in seconds. In one of ten downloads, the file has a new length. */
  #secondsOf(jobId: string): number {
    const isChanged = this.#random.below(10) === 0
    const seconds = (!isChanged && this.#seconds.get(jobId)) || 1 + this.#random.below(3000)
    this.#seconds.set(jobId, seconds)
    return seconds
  }

  /**
   * Simulates a flush of the database. The data in the write-ahead log at the start of the flush then survives a power
   * cut. Flushes may end in another order than they start. So this flush replaces `#durable` only if it started later
   * than the flush that set `#durable`.
   */
  async #flush(): Promise<void> {
    const flushed = { number: ++this.#flushes, logBytes: this.#logBytes() }
    await this.#operation()
    if (flushed.number > this.#durable.number) this.#durable = flushed
  }

  #logBytes(): number {
    return statSync(`${databasePath(this.#folder)}-wal`, { throwIfNoEntry: false })?.size ?? 0
  }

  /**
   * Starts the service again. A `second server`, which continues from a copy of the database after the loss of the
   * first server, has no media files.
   */
  #restart(how: 'kill' | 'power cut' | 'second server'): void {
    this.#unlock()
    this.#pending = []
    this.#life.db.close()
    if (how === 'power cut') this.#loseUnflushed()
    if (how === 'second server') rmSync(join(this.#folder, 'media'), { recursive: true })
    makeMediaFolders(this.#folder)
    this.#life = this.#start()
  }

  /** Resets the database to the content that survives a power cut. */
  #loseUnflushed(): void {
    const path = databasePath(this.#folder)
    const flushed = readFileSync(`${path}-wal`).subarray(0, this.#durable.logBytes)
    // When the last connection closes, SQLite would move the log into the database file. The removal of the files
    // prevents this.
    for (const side of ['', '-wal', '-shm']) rmSync(`${path}${side}`)
    this.#reader.close()
    writeFileSync(path, start!.files.get(basename(path))!)
    writeFileSync(`${path}-wal`, flushed)
    this.#reader = this.#openReader()
  }

  #openReader(): Database {
    const reader = new Database(databasePath(this.#folder), { readonly: true })
    reader.run('begin')
    reader.query('pragma user_version').get()
    return reader
  }

  #lockOrUnlock(): void {
    if (this.#lock) this.#unlock()
    else {
      this.#lock = new Database(databasePath(this.#folder))
      this.#lock.run('begin immediate')
    }
  }

  #unlock(): void {
    this.#lock?.run('rollback')
    this.#lock?.close()
    this.#lock = null
  }

  async #submit(): Promise<void> {
    const { db, runner } = this.#life
    const caller = this.#random.pick(this.#callers)
    const submission = { url: 'https://media.test/a.mp3', webhook_url: 'https://hooks.test/' }
    await refusable(async () => {
      const job = submitJob(db, caller, submission, this.#config)
      runner.start(job)
      await db.durable()
      this.#accepted.set(job.id, caller)
    })
  }

  async #cancel(): Promise<void> {
    const { db, runner } = this.#life
    const [id, caller] = this.#random.pick([...this.#accepted]) ?? []
    if (!id || !caller) return
    await refusable(async () => {
      runner.cancel(caller.accountId, id)
      await db.durable()
      this.#cancelled.add(id)
    })
  }

  #delete(): void {
    const [id, caller] = this.#random.pick([...this.#accepted]) ?? []
    if (id && caller) void refusable(async () => this.#life.runner.delete(caller.accountId, id))
  }

  #sweep(): void {
    this.#monotonicMs += this.#isQuiet ? 1 : 1000
    const { runner } = this.#life
    for (const sweep of [() => runner.writeEnds(), () => runner.failStuckJobs(), () => runner.pump()])
      void refusable(async () => sweep())
  }

  #isDone(): boolean {
    const left = this.#life.db.find<{ count: number }>(
      `select (select count(*) from jobs where completed_at is null)
         + (select count(*) from webhook_events where sent_at is null) as count`,
    )
    return left?.count === 0
  }

  /**
   * Returns a message for each rule that the service broke. Compares the accepted and cancelled jobs with the database,
   * the webhooks and the ledger.
   */
  broken(): string[] {
    const jobs = this.#life.db.list<JobFacts>(
      `select jobs.id, state, error_code as errorCode, started_at as startedAt, duration_ms as durationMs,
         count(*) filter (where kind = 'reserve') as reserves,
         count(*) filter (where kind in ('settle', 'release')) as ends,
         coalesce(sum(units) filter (where kind = 'settle'), 0) as settled
       from jobs left join ledger on job_id = jobs.id group by jobs.id`,
    )
    const known = new Map(jobs.map(job => [job.id, job]))
    const lost = [...this.#accepted.keys()].filter(id => !known.has(id)).map(id => `${id} is gone`)
    const uncancelled = [...this.#cancelled]
      .filter(id => known.get(id)?.errorCode !== 'CANCELLED')
      .map(id => `${id} was cancelled, and is ${known.get(id)?.state}`)
    return [...lost, ...uncancelled, ...jobs.flatMap(job => this.#brokenOf(job)), ...this.#brokenMoney(jobs)]
  }

  #brokenOf({ id, state, errorCode, startedAt, durationMs, reserves, ends, settled }: JobFacts): string[] {
    const price = state === 'completed' ? priceOf(durationMs ?? 0, this.#config.pricePerHourCents) : 0
    const expected = [
      ...(startedAt === null ? [] : [`${id} transcription.processing`]),
      `${id} transcription.${state}`,
    ]
    const told = [...new Set(this.#told.filter(each => each.startsWith(id)))]
    const rules: [boolean, string][] = [
      [state === 'completed' || state === 'failed', `is ${state}`],
      [[null, 'CANCELLED', 'DOWNLOAD_FAILED'].includes(errorCode), `failed as ${errorCode}`],
      [reserves === ends, `has ${reserves} reserves and ${ends} ends`],
      [settled === price, `was charged ${settled}, not ${price}`],
      [told.join() === expected.join(), `sent ${told.join()}, not ${expected.join()}`],
    ]
    return rules.filter(([holds]) => !holds).map(([, what]) => `${id} ${what}`)
  }

  #brokenMoney(jobs: JobFacts[]): string[] {
    const settled = jobs.reduce((sum, job) => sum + job.settled, 0)
    const sums = this.#life.db.find<{ balance: number; reserved: number }>(
      'select sum(balance_units) as balance, sum(reserved_units) as reserved from accounts',
    )
    const due = this.#callers.length * depositCents * limits.unitsPerCent - settled
    if (sums?.balance === due && sums.reserved === 0) return []
    return [`the balance is ${sums?.balance}, not ${due}, and ${sums?.reserved} is reserved`]
  }
}

type JobFacts = {
  id: string
  state: string
  errorCode: string | null
  startedAt: number | null
  durationMs: number | null
  reserves: number
  ends: number
  settled: number
}

/** Calls `work`. Ignores an error by which the service refuses the request, and throws every other error. */
async function refusable(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof JobFailure || refusalOf(error))) throw error
  }
}

/**
 * Waits three turns of the event loop. In this time, all code of the service runs until it ends, or until it waits for
 * an operation that the simulator has not settled yet.
 */
async function drained(): Promise<void> {
  for (let count = 0; count < 3; count++) await new Promise<void>(resolve => setImmediate(resolve))
}
