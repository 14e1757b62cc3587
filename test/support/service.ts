// Starts a whole service for a test, with a real database, files and HTTP. By default, it runs in the test process, and
// the test controls its engine and clock. If STENO_TEST_PROGRAM names a built program, this program runs instead.

import { afterAll, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Service } from '../../src/api/service.ts'
import { openSecrets } from '../../src/base/seal.ts'
import { readConfig } from '../../src/config.ts'
import { openDb } from '../../src/db/open-db.ts'
import { LiveJobs } from '../../src/jobs/live.ts'
import type { Parts } from '../../src/service/parts.ts'
import { startService } from '../../src/service.ts'
import { makeAccount } from './account.ts'
import { checkAnswer } from './answers.ts'
import { dieWithParent } from './die-with-parent.ts'
import { type SteeredEngine, steeredEngine } from './engine.ts'
import { folderOfProcess, removeAtEnd, scratch, temporaryFolder } from './folder.ts'
import { speech, statedMedia } from './media.ts'
import { placeDatabase } from './new-database.ts'
import { serve } from './server.ts'

/**
 * A response. `text` is its body. `body` is the JSON value of an `application/json` response with a body, otherwise
 * null.
 */
// biome-ignore lint/suspicious/noExplicitAny: the JSON has another shape in each test
export type Answer = { status: number; headers: Headers; text: string; body: any }

type Options = {
  settings?: Record<string, string>
  parts?: Partial<Parts>
  dataDir?: string
  /**
   * The path of the built program to test, by default the value of STENO_TEST_PROGRAM. Null: the service runs in the
   * test process.
   */
  program?: string | null
  /** True if the test must not share its service with other tests (see `shareServices`). */
  alone?: boolean
}

type Started = Pick<Service, 'db' | 'secrets'> & {
  /** Notifies listeners when jobs change. It works only if the service runs in the test process. */
  live: LiveJobs
  url: string
  engine: SteeredEngine
  /**
   * Advances the wall clock and the monotonic clock of the service by `ms` milliseconds. Then runs the periodic tasks
   * of the service (sweeps).
   */
  later(ms: number): void
  /**
   * Changes only the wall clock, as an operator who sets the clock does. Then runs the periodic tasks of the service
   * (sweeps).
   */
  stepClock(ms: number): void
  /** Waits until all due work on the search index is done. */
  indexed(): Promise<void>
  close(): Promise<void>
  /** True if the process of the service has ended. */
  hasEnded(): boolean
}

const namedProgram = process.env.STENO_TEST_PROGRAM || null

/**
 * To check that something has not expired yet, a test moves the clock to this many milliseconds before its expiry. The
 * margin is long, because the steps of a test can take many seconds on a busy machine.
 */
export const marginMs = 30_000

/**
 * True while a test runs that was declared with `steered`: a test that controls the engine, the clock or another part
 * of the service.
 */
let isSteering = false

/** A test that is skipped if STENO_TEST_PROGRAM is set, because the built program gives the same result. */
export const sourceOnly = test.skipIf(namedProgram !== null)

/**
 * A test that controls the engine, the clock or another part of the service. It never shares its service. It is skipped
 * if STENO_TEST_PROGRAM is set, because a built program cannot be controlled.
 */
export const steered = Object.assign(
  (title: string, run: () => unknown, ms?: number) => sourceOnly(title, steering(run), ms),
  { each: eachSteered as typeof sourceOnly.each },
)

function eachSteered(cases: unknown[]) {
  return (title: string, run: (...values: unknown[]) => unknown, ms?: number) =>
    sourceOnly.each(cases)(title, steering(run), ms)
}

function steering(run: (...values: unknown[]) => unknown) {
  return async (...values: unknown[]) => {
    isSteering = true
    try {
      await run(...values)
    } finally {
      isSteering = false
    }
  }
}

export type TestService = Awaited<ReturnType<typeof startTestService>>

type Shared = { started: Promise<Started>; dataDir: string; names: string[] }

/** The settings of the services that tests share, if a test names no settings. */
const sharedSettings = { STENO_RATE_LIMITS: 'off' }

/** The service with `sharedSettings`, which all test files of this process share. Null before its start. */
let lasting: (Shared & { hasEnded(): boolean }) | null = null

/**
 * The services that the tests of the running test file share. The key is the settings of the service as JSON. Null if
 * the tests share no services.
 */
let shared: Map<string, Shared> | null = null

/**
 * Lets all tests of a file with the same settings share a service, by default without rate limits. The service with the
 * default settings goes on for the other test files of this process. Each test makes its own accounts. A start costs 40
 * ms of CPU time in the test process, and 80 ms for the built program. The first requests to the routes of a new
 * service cost about the same time again.
 *
 * A test declared with `steered` controls the clock, the engine or another part of its service, so it always has its
 * own service. A test must pass `alone` to `startTestService` if it stops the service, or checks something that all
 * accounts share.
 */
export function shareServices(): void {
  const services = new Map<string, Shared>()
  shared = services
  afterAll(async () => {
    shared = null
    for (const { started, dataDir } of services.values()) {
      await (await started).close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
}

function findShared(services: Map<string, Shared>, settings: Record<string, string>): Shared {
  const limited = { ...sharedSettings, ...settings }
  const name = JSON.stringify(limited)
  const found = name === JSON.stringify(sharedSettings) ? findLasting() : null
  if (found) return found
  const known = services.get(name)
  if (known) return known
  const dataDir = mkdtempSync(join(scratch, 'steno-test-'))
  const made = { started: startShared(dataDir, limited), dataDir, names: [] }
  services.set(name, made)
  return made
}

/**
 * Returns the service that all test files of this process share. Starts it again if it has ended: Bun ends all child
 * processes after a test that timed out. Without the program setpriv, the kernel could not end the built program
 * together with this process (see `dieWithParent`). In this case, returns null, and each test file starts a service of
 * its own and closes it.
 */
function findLasting(): Shared | null {
  if (lasting && !lasting.hasEnded()) return lasting
  const prefix = namedProgram ? dieWithParent() : []
  if (namedProgram && prefix.length === 0) return null
  const dataDir = folderOfProcess(scratch, 'steno-test-shared-')
  removeAtEnd(dataDir)
  const started = startShared(dataDir, sharedSettings, prefix)
  let hasEnded = () => false
  started.then(
    service => (hasEnded = service.hasEnded),
    () => (hasEnded = () => true),
  )
  lasting = { started, dataDir, names: lasting?.names ?? [], hasEnded: () => hasEnded() }
  return lasting
}

function startShared(
  dataDir: string,
  settings: Record<string, string>,
  prefix: string[] = [],
): Promise<Started> {
  return namedProgram
    ? startProgram(resolve(namedProgram), dataDir, settings, prefix)
    : startInside(dataDir, settings, {})
}

/**
 * Returns the shared service. If another test has already taken the name of an account, the account gets another name.
 */
async function openShared({ started, dataDir, names }: Shared) {
  const service = await started
  const freeName = (name: string) => {
    const before = names.filter(each => each === name).length
    names.push(name)
    return before === 0 ? name : `${name}-${before + 1}`
  }
  return {
    ...service,
    dataDir,
    stop: (): Promise<void> => {
      throw new Error('the service is shared: call startTestService with `alone`')
    },
    email: (name: string) => emailOf(freeName(name)),
    account: (name: string, options: { credit?: number } = {}) =>
      openAccount(service, freeName(name), options),
    fetch: (path: string, init: RequestInit = {}) => ask(service.url, path, init),
  }
}

/**
 * Starts a service, or returns a running one that tests share (see `shareServices`). A service that is not shared stops
 * at the end of the calling test, or of the file if no test is running.
 */
export async function startTestService({
  settings = {},
  parts = {},
  dataDir,
  program = namedProgram,
  alone = false,
}: Options = {}) {
  const isPlain = !alone && !isSteering && !dataDir && Object.keys(parts).length === 0
  if (shared && isPlain && program === namedProgram) return openShared(findShared(shared, settings))
  const folder = dataDir ?? temporaryFolder()
  const started = await (program
    ? startProgram(resolve(program), folder, settings)
    : startInside(folder, settings, parts))
  const { url } = started

  let isOpen = true
  const stop = async () => {
    if (isOpen) await started.close()
    isOpen = false
  }
  afterAll(stop)

  return {
    ...started,
    dataDir: folder,
    /** Stops the service and keeps its data folder, so that another service can start on it. */
    stop,
    /** Returns an address that no account has yet. */
    email: emailOf,
    account: (name: string, options: { credit?: number } = {}) => openAccount(started, name, options),
    fetch: (path: string, init: RequestInit = {}) => ask(url, path, init),
  }
}

async function startInside(
  folder: string,
  settings: Record<string, string>,
  parts: Partial<Parts>,
): Promise<Started> {
  let aheadMs = 0
  let clockStepMs = 0
  placeDatabase(folder)
  const engine = (parts.engine as SteeredEngine | undefined) ?? steeredEngine()
  const config = readConfig({
    STENO_PORT: '0',
    STENO_DATA_DIR: folder,
    STENO_SWEEP_EVERY: '1d',
    STENO_DISK_RESERVE: '1MB',
    ...settings,
  })
  const running = await startService(config, {
    media: statedMedia,
    clock: () => Date.now() + aheadMs + clockStepMs,
    monotonic: () => performance.now() + aheadMs,
    // Looking up a host name never ends, so a job with a media address stays in the state `downloading`.
    resolve: () => new Promise(() => {}),
    ...parts,
    engine,
  })
  return {
    ...running.service,
    url: running.listening,
    engine,
    later(ms) {
      aheadMs += ms
      running.sweeper.run()
    },
    stepClock(ms) {
      clockStepMs += ms
      running.sweeper.run()
    },
    indexed: () => running.service.indexer.settled(),
    close: () => running.close(),
    hasEnded: () => false,
  }
}

/**
 * Starts the built program. The test process opens the program's database too, for example to create accounts. Commands
 * of the program for operators, such as `steno accounts`, also open it while the server runs.
 */
async function startProgram(
  path: string,
  folder: string,
  settings: Record<string, string>,
  prefix: string[] = [],
): Promise<Started> {
  const environment = {
    // The data folder is also the model folder. It contains no model, so the engine loads nothing.
    STENO_MODEL: folder,
    STENO_RATE_LIMITS: 'on',
    STENO_SWEEP_EVERY: '1d',
    STENO_DISK_RESERVE: '1MB',
  }
  placeDatabase(folder)
  const server = await serve({ dataDir: folder }, { ...environment, ...settings }, [path], prefix)
  const db = openDb(folder)
  const outOfReach = (): never => {
    throw new Error('a program in another process cannot be steered: mark the test as steered')
  }
  return {
    db,
    secrets: openSecrets(folder),
    url: `http://127.0.0.1:${server.port}`,
    engine: { ...steeredEngine(), given: outOfReach, setReady: outOfReach },
    live: new LiveJobs(db),
    later: outOfReach,
    stepClock: outOfReach,
    indexed: outOfReach,
    async close() {
      db.close()
      await server.stop()
    },
    hasEnded: server.hasEnded,
  }
}

/**
 * Creates a verified account with a key and a balance of `credit` cents. Returns functions that send requests with this
 * key.
 */
function openAccount({ db, secrets, url }: Started, name: string, { credit = 1000 }: { credit?: number }) {
  const email = emailOf(name)
  const { accountId, key, keyId } = makeAccount(db, secrets, email, credit)
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    ask(url, path, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })

  const self = {
    id: accountId,
    email,
    key,
    keyId,
    send,
    get: (path: string, headers?: Record<string, string>) => send('GET', path, undefined, headers),
    post: (path: string, body?: unknown, headers?: Record<string, string>) =>
      send('POST', path, body, headers),
    delete: (path: string) => send('DELETE', path),
    balance: async () => (await self.get('/v1/balance')).body,
    job: async (id: string) => (await self.get(`/v1/transcribe/${id}`)).body,
    /** Creates an upload and sends its bytes. Returns the id of the upload. */
    async upload(bytes: string = speech(60), filename = 'talk.mp3'): Promise<string> {
      const { body } = await self.post('/v1/upload', { filename })
      const put = await fetch(body.upload_url, { method: body.method, headers: body.headers, body: bytes })
      if (put.status !== 200) throw new Error(`PUT answered ${put.status}`)
      return body.upload_id
    },
    /** Uploads a file and submits a job for it. Returns the id of the job. */
    async transcribe(bytes?: string, options: object = {}): Promise<string> {
      const answer = await self.post('/v1/transcribe', { upload_id: await self.upload(bytes), ...options })
      if (answer.status !== 200) throw new Error(`submit answered ${answer.text}`)
      return answer.body.id
    },
    /**
     * Waits until the status of the job is one of `statuses`. Throws if the job ends with another status. Polls the
     * database, because requests take much more CPU time.
     */
    async until(id: string, ...statuses: string[]) {
      const awaited = [...statuses, 'completed', 'failed']
      for (;;) {
        const stored = db.find<{ state: string }>('select state from jobs where id = $id', { id })
        const job = !stored || awaited.includes(stored.state) ? await self.job(id) : null
        if (statuses.includes(job?.status)) return job
        if (awaited.includes(job?.status)) throw new Error(`the job ended: ${JSON.stringify(job)}`)
        await Bun.sleep(2)
      }
    },
  }
  return self
}

function emailOf(name: string): string {
  return `${name}@example.org`
}

async function ask(url: string, path: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(`${url}${path}`, { redirect: 'manual', ...init })
  const text = await response.text()
  const { status, headers } = response
  const isJson = text !== '' && headers.get('content-type')?.startsWith('application/json')
  // The body is parsed at its first use, because some JSON responses are long.
  let parsed: Answer['body']
  const read = () => (parsed ??= isJson ? JSON.parse(text) : null)
  if (isJson) checkAnswer(init.method ?? 'GET', path, status, read)
  return {
    status,
    headers,
    text,
    get body() {
      return read()
    },
  }
}
