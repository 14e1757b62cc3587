import { afterEach, expect, spyOn, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { log } from '../../src/base/log.ts'
import { missingProtections } from '../../src/base/sandbox.ts'
import { selfCommand } from '../../src/base/self.ts'
import { environment, writeToLog } from '../../src/engine/ask.ts'
import { voicesFor } from '../../src/engine/models/voices.ts'
import { allowedCores } from '../../src/engine/onnx/cores.ts'
import { type EngineSettings, Worker } from '../../src/engine/worker.ts'
import { limits } from '../../src/limits.ts'
import { compactPocket } from '../support/compact-pocket.ts'
import { defaults } from '../support/defaults.ts'
import { clips, pocket, unless } from '../support/engine-room.ts'
import { inEnvironment } from '../support/environment.ts'
import { temporaryFolder } from '../support/folder.ts'
import { plainInput } from '../support/plain-input.ts'

const fakeChild = fileURLToPath(new URL('../support/engine-child.ts', import.meta.url))
let worker: Worker | null = null

afterEach(() => worker?.kill())

function open(behaviour: string, settings: Partial<EngineSettings> = {}): Worker {
  const model = {
    folder: '',
    name: 'fake',
    others: [],
    detector: null,
    voices: { problem: 'fake' },
    notice: null,
  }
  worker = new Worker(
    model,
    { ...defaults, ...settings },
    { command: [process.execPath, fakeChild, behaviour] },
  )
  return worker
}

async function openPocket(): Promise<Worker> {
  const folder = await compactPocket(pocket ?? '')
  const model = { folder, name: 'pocket', others: [], detector: null, notice: null }
  worker = new Worker(
    { ...model, voices: voicesFor('pocket', '') },
    { ...defaults, device: 'cpu', threads: 1 },
  )
  return worker
}

const isConfinable = process.platform === 'linux' && missingProtections().length === 0

/** The start of a command that runs with the nice value 0, if this user may raise a priority. */
const withNiceZero = ['nice', '-n', `${-getPriority()}`]

test.each([
  ['an error in a timer', 'SIGUSR2'],
  ['an unhandled rejection', 'SIGWINCH'],
] as const)('%s ends the engine process, which has a low priority and is confined', async (_, signal) => {
  const model = { folder: '', name: 'fake', others: [], detector: null, notice: null }
  const { promise: exit, resolve } = Promise.withResolvers<Worker>()
  worker = new Worker({ ...model, voices: { problem: 'fake' } }, defaults, {
    command: [...withNiceZero, ...selfCommand('engine-with-faults')],
    onExit: resolve,
  })
  // The engine process sends this error, because there is no model in the folder. The error proves that the process
  // runs.
  await expect(worker.load()).rejects.toThrow('The model fake cannot be loaded')
  const started = Number(Bun.spawnSync([...withNiceZero, 'nice']).stdout)
  expect(getPriority(worker.pid)).toBe(Math.max(limits.engineNice, started))
  if (isConfinable) {
    const status = readFileSync(`/proc/${worker.pid}/status`, 'utf8')
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
    expect(status).toMatch(/^Seccomp:\s+2$/m)
  }
  process.kill(worker.pid, signal)
  await exit
  await expect(worker.load()).rejects.toThrow(/^the engine process ended \([1-9]\)$/)
})

function runTwo(opened: Worker) {
  const folder = temporaryFolder()
  const signal = new AbortController().signal
  return Promise.allSettled(
    ['en', 'de'].map(async language => {
      const reached: number[] = []
      const input = plainInput({ path: join(folder, language), language })
      const answer = await opened.run(input, { signal, onSeconds: each => reached.push(each) })
      return { full_transcript: answer.full_transcript, language: answer.language, reached }
    }),
  )
}

test('two jobs at the same time get their own progress and transcripts, and an abort rejects a job with its reason', async () => {
  const opened = open('slow', { threads: 3, workers: 2 })
  expect(opened.threads).toBe(3)
  await opened.load()
  const answer = {
    full_transcript: `heard by ${opened.pid}`,
    reached: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  }
  expect(await runTwo(opened)).toEqual([
    { status: 'fulfilled', value: { ...answer, language: 'en' } },
    { status: 'fulfilled', value: { ...answer, language: 'de' } },
  ])
  const stop = new AbortController()
  const input = plainInput({ path: join(temporaryFolder(), 'job') })
  const stopped = opened.run(input, {
    signal: stop.signal,
    onSeconds: () => stop.abort(new Error('stopped')),
  })
  await expect(stopped).rejects.toThrow('stopped')
})

/** Counts the timers that were started after this call and have not been cleared: timeouts, and intervals. */
function watchTimers() {
  const started = [spyOn(globalThis, 'setTimeout'), spyOn(globalThis, 'setInterval')]
  const cleared = [spyOn(globalThis, 'clearTimeout'), spyOn(globalThis, 'clearInterval')]
  const count = () => {
    const ended = new Set<unknown>(cleared.flatMap(({ mock }) => mock.calls.map(([timer]) => timer)))
    return started.map(({ mock }) => mock.results.filter(({ value }) => !ended.has(value)).length)
  }
  const restore = () => {
    for (const spy of [...started, ...cleared]) spy.mockRestore()
  }
  return { count, [Symbol.dispose]: restore }
}

test('an engine process has a timeout and a check while it has orders, and no timer afterwards', async () => {
  const opened = open('hangs-once')
  using timers = watchTimers()
  const loaded = opened.load()
  expect(timers.count()).toEqual([1, 1])
  await loaded
  expect(timers.count()).toEqual([0, 0])
  const { signal } = new AbortController()
  const run = (path: string) => opened.run(plainInput({ path }), { signal, onSeconds: () => {} })
  const [hanging, seen] = ['hanging', 'seen'].map(name => join(temporaryFolder(), name))
  const hung = run(hanging ?? '').catch(({ message }) => message)
  await Bun.write(seen ?? '', 'seen')
  await run(seen ?? '')
  expect(timers.count()).toEqual([1, 1])
  await opened.kill()
  expect(await hung).toBe('the engine process ended (SIGKILL)')
  expect(timers.count()).toEqual([0, 0])
})

test('an engine process has its share of the cores, and its exit rejects all its jobs', async () => {
  const opened = open('dies', { threads: null, workers: 2 })
  expect(opened.threads).toBe(Math.max(1, Math.floor(allowedCores() / 2)))
  await opened.load()
  expect((await runTwo(opened)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test.skipIf(!pocket || !clips)(
  `an engine process logs why it cannot read the file of a job, and ends after an error in the code of a job${unless(pocket && clips, 'pocket model with its clips')}`,
  async () => {
    using logged = spyOn(log, 'error').mockImplementation(() => {})
    const opened = await openPocket()
    await opened.load()
    const { signal } = new AbortController()
    const run = (path: string, vocabulary: string[]) =>
      opened.run(plainInput({ path, vocabulary }), { signal, onSeconds: () => {} })
    await expect(run(join(temporaryFolder(), 'missing'), [])).rejects.toThrow('A step on our side failed')
    expect(logged.mock.calls).toEqual([
      [
        'media file missing',
        expect.objectContaining({ pid: opened.pid, error: expect.stringMatching(/^ENOENT: .*missing'$/) }),
      ],
    ])
    const faulty = run(join(clips ?? '', 'en-short.flac'), 'no list' as never)
    await expect(faulty).rejects.toThrow('the engine process ended (1)')
  },
)

test('an engine process does not get the secrets of the settings', () =>
  inEnvironment({ STENO_SMTP_PASSWORD: 'secret', HF_TOKEN: 'secret', LANG: 'C' }, () => {
    const variables = environment()
    expect(Object.values(variables)).not.toContain('secret')
    expect(variables).toMatchObject({ LANG: 'C', BUN_ENABLE_CRASH_REPORTING: '0' })
  }))

test('an event of an engine process with an unknown level is not logged, and does no harm', () => {
  using logged = spyOn(log, 'warn').mockImplementation(() => {})
  for (const level of ['warn', 'constructor', 'fatal'])
    writeToLog({ kind: 'log', level, event: 'a', fields: { b: 1 } } as never, 7)
  expect(logged.mock.calls).toEqual([['a', { pid: 7, b: 1 }]])
})
