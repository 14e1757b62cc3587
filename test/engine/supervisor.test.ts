import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as carried from '../../src/base/carried.ts'
import { log } from '../../src/base/log.ts'
import { missingProtections } from '../../src/base/sandbox.ts'
import { selfCommand } from '../../src/base/self.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { voicesFor } from '../../src/engine/models/voices.ts'
import { allowedCores } from '../../src/engine/onnx/cores.ts'
import type { Report } from '../../src/engine/protocol.ts'
import type { TranscribeInput } from '../../src/engine/request.ts'
import { openEngine, type SupervisorOptions } from '../../src/engine/supervisor.ts'
import type { EngineSettings } from '../../src/engine/worker.ts'
import { childrenOf, isRunning, watchChildren } from '../media/processes.ts'
import { compactPocket } from '../support/compact-pocket.ts'
import { defaults } from '../support/defaults.ts'
import { clips, pocket, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { plainInput } from '../support/plain-input.ts'

let folder: string
let engine: Engine | null

beforeEach(() => {
  folder = temporaryFolder()
  engine = null
})

afterEach(async () => {
  await engine?.close()
})

const voices = { problem: 'fake' }
const fakeChild = fileURLToPath(new URL('../support/engine-child.ts', import.meta.url))

const alone = { others: [], detector: null }

function open(behaviour: string, options: SupervisorOptions = {}, settings: Partial<EngineSettings> = {}) {
  engine = openEngine(
    {
      ...defaults,
      model: 'pocket',
      dataDir: folder,
      device: 'cpu',
      threads: 1,
      ...settings,
    },
    {
      command: [process.execPath, fakeChild, behaviour],
      prepare: async () => ({ folder, name: 'fake', ...alone, voices, notice: null }),
      retryMs: 20,
      ...options,
    },
  )
  return engine
}

function ready(opened: Engine): Promise<void> {
  return new Promise(resolve => (opened.state().ready ? resolve() : opened.onReady(resolve)))
}

let jobs = 0

function job(change: Partial<TranscribeInput> = {}): TranscribeInput {
  const path = join(folder, `job-${++jobs}`)
  return plainInput({ path, ...change })
}

function run(
  opened: Engine,
  input = job(),
  signal = new AbortController().signal,
  onSeconds = (_: number) => {},
) {
  return opened.transcribe(input, { signal, onSeconds })
}

test('a job reports its progress in seconds, from 0 on and never backwards', async () => {
  const reported: number[] = []
  await run(open('slow'), job(), undefined, seconds => reported.push(seconds))
  expect(reported).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
})

test('a job passes on each report of its engine process, and the transcript has all its utterances', async () => {
  using logged = spyOn(log, 'warn').mockImplementation(() => {})
  const reported: unknown[] = []
  const textsOf = (utterances: readonly { text: string }[]) => utterances.map(({ text }) => text)
  const { utterances, model } = await open('speaks').transcribe(job(), {
    signal: new AbortController().signal,
    onSeconds: () => {},
    onUtterances: (utterances, first, language) => reported.push([first, textsOf(utterances), language]),
    onTurns: turns => reported.push(turns),
    onPeaks: peaks => reported.push([...peaks]),
  })
  expect(reported).toEqual([
    [0, ['part 0'], 'de'],
    [1, ['part 1'], 'de'],
    [{ start: 0, end: 1, speaker: 'SPEAKER 1' }],
    [7],
  ])
  expect([model, textsOf(utterances)]).toEqual(['another', ['part 0', 'part 1']])
  expect(logged.mock.calls).toEqual([['engine text doubtful', { from_second: 1, to_second: 2 }]])
})

test('a transcript contains the name of its model and its warnings', async () => {
  expect(await run(open('well'))).toMatchObject({ model: 'fake', warnings: [] })
  await engine?.close()
  const prepare = async () => ({ folder, name: 'pocket', ...alone, voices, notice: null })
  expect(await run(open('warns', { prepare }))).toMatchObject({
    model: 'pocket',
    warnings: ['made by pocket, a model for tests', 'mind this'],
  })
})

test('a worker runs one job at a time', async () => {
  const opened = open('slow')
  const [first, second] = await Promise.all([run(opened), run(opened)])
  expect(first.full_transcript).toBe(second.full_transcript)
})

test('a job whose worker exits is retried on a new worker', async () => {
  expect((await run(open('dies-once'))).full_transcript).toStartWith('heard by')
})

test('a job whose worker exits twice fails', async () => {
  let exits = 0
  const opened = open('dies', { onCrash: () => exits++ })
  await expect(run(opened)).rejects.toMatchObject({ code: 'PROCESSING_ERROR' })
  expect(exits).toBe(2)
})

test('each worker that exits by itself is counted, during a job and while idle', async () => {
  let exits = 0
  const input = job()
  const opened = open('dies-once', { onCrash: () => exits++ })
  const { full_transcript } = await run(opened, input)
  expect(exits).toBe(1)
  const idle = Number(full_transcript.split(' ').at(-1))
  process.kill(idle, 'SIGKILL')
  await gone(idle)
  await run(opened, input)
  expect(exits).toBe(2)
  await opened.close()
  expect(exits).toBe(2)
})

test('a worker that makes no progress is killed, and its job retried', async () => {
  expect((await run(open('hangs-once', { stallMs: 400 }))).full_transcript).toStartWith('heard by')
})

test('a worker that a signal has stopped is killed, and its job retried', async () => {
  const opened = open('well', { lookMs: 50 })
  const { full_transcript } = await run(opened)
  const stopped = Number(full_transcript.split(' ').at(-1))
  process.kill(stopped, 'SIGSTOP')
  expect((await run(opened)).full_transcript).not.toBe(full_transcript)
  expect(isRunning(stopped)).toBe(false)
})

test.each(['dies-loading-once', 'hangs-loading-once'])(
  'a worker that ends or hangs while it loads its model is replaced: %s',
  async behaviour => {
    using logged = spyOn(log, 'error').mockImplementation(() => {})
    const opened = open(behaviour, { loadMs: 500 })
    expect((await run(opened)).full_transcript).toStartWith('heard by')
    expect(logged.mock.calls.at(-1)).toEqual([
      'engine not loaded',
      { error: `the engine process ended (${behaviour.startsWith('dies') ? 7 : 'SIGKILL'})` },
    ])
    expect(opened.state()).toMatchObject({ ready: true, message: 'ready' })
  },
)

test('a worker that makes progress may take longer than the stall time', async () => {
  expect((await run(open('slow', { stallMs: 200 }))).full_transcript).toStartWith('heard by')
})

test('cancelling a job kills its worker, and the next job gets a new one', async () => {
  let crashes = 0
  const opened = open('hangs-once', { onCrash: () => crashes++ })
  const stop = new AbortController()
  const started = Promise.withResolvers<void>()
  const cancelled = run(opened, job(), stop.signal, () => started.resolve())
  await started.promise
  stop.abort(new Error('cancelled'))
  await expect(cancelled).rejects.toThrow('cancelled')
  const again = job()
  await Bun.write(again.path, 'seen')
  expect((await run(opened, again)).full_transcript).toStartWith('heard by')
  expect(crashes).toBe(0)
})

test('cancelling a waiting job leaves the running job alone', async () => {
  const opened = open('slow')
  let ended = false
  const first = run(opened).finally(() => (ended = true))
  const stop = new AbortController()
  const second = run(opened, job(), stop.signal)
  stop.abort(new Error('cancelled'))
  await expect(second).rejects.toThrow('cancelled')
  await expect(run(opened, job(), stop.signal)).rejects.toThrow('cancelled')
  expect(ended).toBe(false)
  await first
})

test('a job that the worker refuses is not retried', async () => {
  await expect(run(open('refuses'))).rejects.toMatchObject({
    code: 'INVALID_MEDIA_FORMAT',
    message: 'not sound',
  })
})

test('a report without a matching order is ignored', async () => {
  expect((await run(open('rubbish'))).full_transcript).toStartWith('heard by')
})

test('a worker that sends a report without its fields is killed, and its job is retried', async () => {
  expect((await run(open('lacks-utterances-once'))).full_transcript).toStartWith('heard by')
})

test('a worker is replaced after the maximum of its jobs', async () => {
  const opened = open('well', { jobsMax: 2 })
  const first = await run(opened)
  const second = await run(opened)
  const third = await run(opened)
  expect(second.full_transcript).toBe(first.full_transcript)
  expect(third.full_transcript).not.toBe(first.full_transcript)
})

test('an idle worker that is killed is replaced', async () => {
  const opened = open('well')
  const pid = Number((await run(opened)).full_transcript.split(' ').at(-1))
  process.kill(pid, 'SIGKILL')
  await gone(pid)
  expect((await run(opened)).full_transcript).not.toContain(String(pid))
})

test('an engine process that cannot be started is tried again, and the engine is not ready meanwhile', async () => {
  using logged = spyOn(log, 'error').mockImplementation(() => {})
  const program = join(folder, 'program')
  const opened = open('', { command: [program, fakeChild, 'well'] })
  const notReady = async (message: string) => {
    while (opened.state().message !== message) await Bun.sleep(5)
    expect(opened.state()).toMatchObject({ ready: false, device: null })
  }
  await notReady('The engine process cannot be started; the log says why.')
  symlinkSync(process.execPath, program)
  const pid = pidOf(await run(opened))

  rmSync(program)
  process.kill(pid, 'SIGKILL')
  await notReady('The engine process cannot be started; the log says why.')
  symlinkSync(process.execPath, program)
  expect(pidOf(await run(opened))).not.toBe(pid)
  expect(opened.state()).toMatchObject({ ready: true, message: 'ready', device: 'cpu' })
  const events = logged.mock.calls.map(([event]) => event)
  const notStarted = 'engine process not started'
  expect(events).toEqual([notStarted, 'idle engine worker exited', notStarted])
})

test('a worker that takes no more orders, but whose exit is not known, is replaced, and the job is kept', async () => {
  // After the first job, the child process closes its channel to the server. The server may not know this yet when it
  // sends the second job. That job is then lost, and starts again after `stallMs`.
  const opened = open('disconnects-once', { stallMs: 3000 })
  const input = job()
  const first = await run(opened, input)
  await Bun.write(`${input.path}.received`, '')
  while (!(await Bun.file(`${input.path}.disconnected`).exists())) await Bun.sleep(5)
  const second = await run(opened, input)
  expect(second.full_transcript).not.toBe(first.full_transcript)
}, 30_000)

test('the engine is not ready while its model cannot be loaded, and its state names no path', async () => {
  const opened = open('cannot-load')
  const starting = opened.state().message
  while (opened.state().message === starting) await Bun.sleep(5)
  expect(opened.state()).toMatchObject({
    ready: false,
    device: null,
    model: 'fake',
    message: 'The engine has no model that it can load; the log and steno doctor say why.',
  })
})

test('the engine is not ready while its model is damaged, and its state names no path; it tries again', async () => {
  using _logged = spyOn(log, 'error').mockImplementation(() => {})
  const repaired = Promise.withResolvers<void>()
  let attempts = 0
  const opened = open('well', {
    retryMs: 1,
    prepare: async () => {
      if (++attempts === 1) throw new Error('/models/tiny/config.json is missing')
      await repaired.promise
      return { folder, name: 'base', ...alone, voices, notice: null }
    },
  })
  const starting = opened.state().message
  while (opened.state().message === starting) await Bun.sleep(5)
  expect(opened.state()).toMatchObject({ ready: false, message: expect.not.stringContaining('/') })
  repaired.resolve()
  await ready(opened)
  expect(opened.state()).toMatchObject({ model: 'base', message: 'ready' })
})

test('the state shows the download of the model, then that the engine is ready', async () => {
  const fetched = Promise.withResolvers<void>()
  const opened = open('well', {
    prepare: async (_, onProgress) => {
      onProgress('The model base is being fetched: 42 % of 80 MB')
      await fetched.promise
      return { folder, name: 'base', ...alone, voices, notice: 'mind this' }
    },
  })
  expect(opened.state()).toMatchObject({ ready: false, message: expect.stringContaining('42 %') })
  fetched.resolve()
  await ready(opened)
  expect(opened.state()).toEqual({
    ready: true,
    message: 'mind this',
    model: 'base',
    device: 'cpu',
    diarization: 'ready',
  })
})

test('the default model replaces the built-in one when it is installed, also after a job that runs meanwhile', async () => {
  using logged = spyOn(log, 'info').mockImplementation(() => {})
  const wanted = join(folder, 'wanted')
  const answers = [
    { folder, name: 'pocket', ...alone, voices, notice: 'good for a try' },
    { folder, name: 'pocket', ...alone, voices, notice: 'good for a try' },
    null,
  ]
  const opened = open('slow', {
    retryMs: 1,
    prepare: async () => {
      const answer = answers.shift()
      if (answer === null) throw new Error('no network')
      if (answer) return answer
      await isPublished.promise
      return { folder: wanted, name: 'base', ...alone, voices, notice: null }
    },
  })
  const isPublished = Promise.withResolvers<void>()
  await ready(opened)
  expect(opened.state()).toMatchObject({ ready: true, model: 'pocket', message: 'good for a try' })
  const started = Promise.withResolvers<void>()
  const first = run(opened, job(), undefined, seconds => seconds > 0 && started.resolve())
  await started.promise
  isPublished.resolve()
  while (logged.mock.calls.at(-1)?.[0] !== 'model replaced') await Bun.sleep(5)
  expect(opened.state()).toMatchObject({ ready: true, model: 'pocket' })
  const [one, other] = [await first, await run(opened)]
  expect(opened.state()).toMatchObject({ ready: true, message: 'ready', model: 'base' })
  expect([one.model, other.model]).toEqual(['pocket', 'base'])
})

test('the default model is tried even while the built-in one cannot be loaded', async () => {
  const wanted = { folder: join(folder, 'wanted'), name: 'base', ...alone, voices, notice: null }
  const answers = [{ folder, name: 'pocket', ...alone, voices, notice: 'good for a try' }]
  const opened = open('loads-wanted', { retryMs: 1, prepare: async () => answers.shift() ?? wanted })
  await ready(opened)
  expect(opened.state()).toMatchObject({ ready: true, message: 'ready', model: 'base' })
})

/** Returns fake timers. A timer expires only when the test calls the function `elapse`. */
function steeredTimers() {
  const set: { ms: number; run: () => void }[] = []
  const after = (ms: number, run: () => void) => {
    const timer = { ms, run }
    set.push(timer)
    return () => void (set.includes(timer) && set.splice(set.indexOf(timer), 1))
  }
  const elapse = () => {
    for (const { run } of set.splice(0)) run()
  }
  return { set, after, elapse }
}

const pidOf = ({ full_transcript }: { full_transcript: string }) => Number(full_transcript.split(' ').at(-1))

test('workers without a job end after the idle time, and the next job starts them again', async () => {
  const timers = steeredTimers()
  const opened = open('slow', { after: timers.after }, { workers: 2, idleUnloadMs: 300_000 })
  const first = await Promise.all([run(opened), run(opened)])
  expect(timers.set.map(({ ms }) => ms)).toEqual([300_000])
  timers.elapse()
  for (const transcript of first) await gone(pidOf(transcript))
  expect(opened.state()).toMatchObject({ ready: true, message: 'ready', model: 'fake' })

  const again = await Promise.all([run(opened), run(opened)])
  expect(new Set([...first, ...again].map(pidOf)).size).toBe(4)
  expect(timers.set.length).toBe(1)
})

test('a job cancels the idle timer, which restarts when the job ends', async () => {
  const timers = steeredTimers()
  const opened = open('slow', { after: timers.after }, { idleUnloadMs: 1000 })
  await ready(opened)
  expect(timers.set.length).toBe(1)
  const started = Promise.withResolvers<void>()
  const running = run(opened, job(), undefined, seconds => seconds > 0 && started.resolve())
  await started.promise
  expect(timers.set).toEqual([])
  const { full_transcript } = await running
  expect(timers.set.length).toBe(1)
  expect((await run(opened)).full_transcript).toBe(full_transcript)
})

test('an idle worker starts no idle timer while another worker has a job', async () => {
  const timers = steeredTimers()
  const opened = open('hangs-once', { after: timers.after }, { workers: 2, idleUnloadMs: 1000 })
  const stop = new AbortController()
  const hanging = run(opened, job(), stop.signal).catch(({ message }) => message)
  const seen = job()
  await Bun.write(seen.path, 'seen')
  await run(opened, seen)
  expect(timers.set).toEqual([])
  stop.abort(new Error('cancelled'))
  expect(await hanging).toBe('cancelled')
})

test('a job that is cancelled while the engine loads again leaves a worker for the next one', async () => {
  const timers = steeredTimers()
  const opened = open('well', { after: timers.after }, { idleUnloadMs: 1000 })
  await run(opened)
  timers.elapse()
  const stop = new AbortController()
  const cancelled = run(opened, job(), stop.signal)
  stop.abort(new Error('cancelled'))
  await expect(cancelled).rejects.toThrow('cancelled')
  expect((await run(opened)).full_transcript).toStartWith('heard by')
})

test('all workers end after the idle time, although one of them never loads its model', async () => {
  const timers = steeredTimers()
  const started = watchChildren()
  const opened = open('loads-once', { after: timers.after }, { workers: 2, idleUnloadMs: 1000 })
  let becameReady = 0
  opened.onReady(() => becameReady++)
  const transcript = await run(opened)
  expect(timers.set.length).toBe(1)
  const pids = started()
  expect(pids.length).toBe(2)
  timers.elapse()
  for (const pid of pids) await gone(pid)
  rmSync(join(folder, 'loaded'))
  expect((await run(opened)).full_transcript).not.toBe(transcript.full_transcript)
  expect(becameReady).toBe(1)
})

test('files that cannot be unpacked after the idle time do not make the engine unready', async () => {
  const timers = steeredTimers()
  const second = Promise.withResolvers<void>()
  let attempts = 0
  using _unpack = spyOn(carried, 'unpackCarried').mockImplementation(async () => {
    attempts++
    if (attempts === 2) await second.promise
  })
  const opened = open('well', { after: timers.after, retryMs: 1 }, { workers: 2, idleUnloadMs: 1000 })
  await ready(opened)
  expect(timers.set.length).toBe(1)
  timers.elapse()
  second.reject(new Error('the disk is full'))
  await new Promise(resolve => setImmediate(resolve))
  expect(opened.state().ready).toBe(true)
  expect((await run(opened)).full_transcript).toStartWith('heard by')
})

test('without an idle time the workers are kept', async () => {
  const timers = steeredTimers()
  const opened = open('well', { after: timers.after })
  await run(opened)
  expect(timers.set).toEqual([])
})

test('closing kills every worker, and cancels the idle timer', async () => {
  const timers = steeredTimers()
  const opened = open('well', { after: timers.after }, { workers: 2, idleUnloadMs: 1000 })
  const transcripts = await Promise.all([run(opened), run(opened)])
  const pids = transcripts.map(({ full_transcript }) => Number(full_transcript.split(' ').at(-1)))
  expect(timers.set.length).toBe(1)
  await opened.close()
  expect(timers.set).toEqual([])
  for (const pid of pids) await gone(pid)
})

/** Waits until there are `count` engine processes. Returns the GPU of each process, by process id. */
async function gpusOfChildren(count: number): Promise<Map<number, string | undefined>> {
  for (;;) {
    const children = childrenOf(process.pid).filter(pid => command(pid).includes(fakeChild))
    if (children.length === count) return new Map(children.map(pid => [pid, gpuOf(pid)]))
    await Bun.sleep(5)
  }
}

function gpuOf(pid: number): string | undefined {
  const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  return variables.find(each => each.startsWith('CUDA_VISIBLE_DEVICES='))?.split('=')[1]
}

test('of several GPUs, each worker has one and its share of the cores, also after it was replaced', async () => {
  using logged = spyOn(log, 'info').mockImplementation(() => {})
  const opened = open('well', { gpus: ['0', 'GPU-4f'] }, { threads: null })
  expect(opened.capacity).toBe(2)
  await ready(opened)
  const threads = Math.max(1, Math.floor(allowedCores() / 2))
  expect(logged.mock.calls.at(-1)).toEqual(['engine ready', expect.objectContaining({ engines: 2, threads })])
  const before = await gpusOfChildren(2)
  expect([...before.values()].toSorted()).toEqual(['0', 'GPU-4f'])
  const [[killed, lost] = [0, ''], [kept] = [0]] = [...before]
  process.kill(killed, 'SIGKILL')
  await gone(killed)
  const after = await gpusOfChildren(2)
  expect(after.has(kept)).toBe(true)
  after.delete(kept)
  expect([...after.values()]).toEqual([lost])
})

test('a single GPU is not chosen', async () => {
  const opened = open('well', { gpus: ['0'] })
  expect(opened.capacity).toBe(1)
  expect([...(await gpusOfChildren(1)).values()]).toEqual([process.env.CUDA_VISIBLE_DEVICES])
})

test('more workers than GPUs share them', async () => {
  const opened = open('well', { gpus: ['0', '1'] }, { workers: 4 })
  expect(opened.capacity).toBe(4)
  expect([...(await gpusOfChildren(4)).values()].toSorted()).toEqual(['0', '0', '1', '1'])
})

const isConfinable = process.platform === 'linux' && missingProtections().length === 0
const missing = !pocket || !clips
const skipped = unless(pocket && clips, 'pocket model with its clips')
const real = () => ({
  command: selfCommand('engine'),
  prepare: async () => ({
    folder: await compactPocket(pocket!),
    name: 'pocket',
    ...alone,
    voices: voicesFor('pocket', ''),
    notice: null,
  }),
})

test.skipIf(missing)(
  `the real child transcribes a clip, cannot read the secret key, survives a broken file, Ctrl-C and a closed terminal, has a low priority, and inherits no socket or database${skipped}`,
  async () => {
    using server = Bun.serve({ port: 0, fetch: () => new Response('here') })
    // A confined engine can read only data folder entries that exist at its start, so the test creates the media folder
    // before the engine starts.
    const media = join(folder, 'media')
    mkdirSync(media, { recursive: true })
    const clip = join(clips ?? '', 'doctor.flac')
    await Bun.write(join(folder, 'secret.key'), Bun.file(clip))
    const opened = open('', real())
    await ready(opened)
    const engines = () => childrenOf(process.pid).filter(child => command(child).endsWith('engine'))
    const started = engines()
    for (const pid of started) for (const signal of ['SIGINT', 'SIGHUP']) process.kill(pid, signal)
    const input = job({ path: clip, durationMs: 4083, language: 'en' })
    expect((await run(opened, input)).full_transcript).toContain('cloudy this evening')
    // In this test, the file `secret.key` contains a recording. The job fails only because the engine process cannot
    // read this file.
    if (isConfinable) {
      const secret = run(opened, { ...input, path: join(folder, 'secret.key') })
      await expect(secret).rejects.toThrow('A step on our side failed')
    }

    const rubbish = join(media, 'rubbish.mp3')
    await Bun.write(rubbish, 'no sound in here')
    await expect(run(opened, job({ path: rubbish }))).rejects.toMatchObject({ code: 'INVALID_MEDIA_FORMAT' })
    expect((await run(opened, input)).full_transcript).toContain('cloudy this evening')

    expect(engines()).toEqual(started)
    const [pid = 0] = started
    const held = readdirSync(`/proc/${pid}/fd`).map(fd => link(`/proc/${pid}/fd/${fd}`))
    expect(held.filter(path => path.includes('.sqlite') || path.includes('steno-data'))).toEqual([])
    const serverSocket = link(`/proc/self/fd/${listening(server.port ?? 0)}`)
    expect(held).not.toContain(serverSocket)
    expect(getPriority(pid)).toBe(Math.max(10, getPriority()))
  },
  60_000,
)

test.skipIf(missing)(
  `the real child exits when its parent is killed${skipped}`,
  async () => {
    const parent = Bun.spawn(
      [
        process.execPath,
        '-e',
        `const { openEngine } = await import(${JSON.stringify(new URL('../../src/engine/supervisor.ts', import.meta.url).href)})
         const settings = ${JSON.stringify({ ...defaults, model: pocket, dataDir: '/nowhere', device: 'cpu', threads: 1 })}
         const engine = openEngine(settings, { command: ${JSON.stringify(real().command)} })
         engine.onReady(() => console.log('ready'))
         await new Promise(() => {})`,
      ],
      { stdout: 'pipe' },
    )
    const reader = parent.stdout.getReader()
    await reader.read()
    const [child = 0] = childrenOf(parent.pid)
    expect(child).toBeGreaterThan(0)
    parent.kill('SIGKILL')
    await parent.exited
    await gone(child)
  },
  60_000,
)

test('an engine never has a higher priority than its server', async () => {
  const { promise, resolve } = Promise.withResolvers<Report>()
  const child = Bun.spawn(['nice', '-n', '15', ...real().command], {
    ipc: (report: Report) => resolve(report),
  })
  // The folder `no-model` does not exist, so the engine process reports that it cannot load a model.
  child.send({
    kind: 'load',
    parent: process.pid,
    dataDir: null,
    folder: join(folder, 'no-model'),
    device: 'cpu',
  })
  await promise
  const priority = getPriority(child.pid)
  child.kill('SIGKILL')
  await child.exited
  expect(priority).toBe(Math.min(19, getPriority() + 15))
}, 120_000)

/** Waits until the process `pid` has ended. Only the test timeout limits the wait. */
async function gone(pid: number): Promise<void> {
  while (isRunning(pid)) await Bun.sleep(5)
}

function command(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
}

function link(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** Returns the file descriptor of this process's socket that listens on the given port. */
function listening(port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const rows = ['/proc/self/net/tcp', '/proc/self/net/tcp6'].flatMap(path =>
    readFileSync(path, 'utf8').split('\n').slice(1),
  )
  const inode = rows.map(row => row.trim().split(/\s+/)).find(row => row[1]?.endsWith(`:${hex}`))?.[9]
  const fd = readdirSync('/proc/self/fd').find(fd => link(`/proc/self/fd/${fd}`) === `socket:[${inode}]`)
  if (!fd) throw new Error('no descriptor listens on this port')
  return Number(fd)
}
