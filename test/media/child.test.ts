// Tests how the media program is confined and ended. If it crashes, hangs or sends wrong data, the job must fail with
// the right error code. No child process may remain.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { passLogTo } from '../../src/base/log.ts'
import { limits } from '../../src/limits.ts'
import { decode } from '../../src/media/decode.ts'
import { openMedia, readInspection } from '../../src/media/inspect.ts'
import { argumentsOf, type MediaOrder } from '../../src/media/order.ts'
import { findProgram } from '../../src/media/program.ts'
import { type Bounds, runChild } from '../../src/media/run-child.ts'
import { headerBytes, kinds, readMessages } from '../../src/media/wire.ts'
import { defaults } from '../support/defaults.ts'
import { temporaryFolder } from '../support/folder.ts'
import { wavHeader } from '../support/sound.ts'
import { failureOf, fixture, forever, media, patienceMs } from './files.ts'
import { childrenOf, isRunning, watchChildren } from './processes.ts'

setDefaultTimeout(patienceMs)

const { durationMsMin, durationMsMax } = defaults
const wav = fixture('pcm.wav')

let children: () => number[]

beforeEach(() => {
  children = watchChildren()
})

/** Checks that no child process is left, not even a zombie. */
afterEach(() => {
  expect(children()).toEqual([])
})

/** Returns a message of the media program. */
function message(kind: keyof typeof kinds, body: Uint8Array): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt16BE(0x5354)
  header.writeUInt16BE(kinds[kind], 2)
  header.writeUInt32BE(body.length, 4)
  return Buffer.concat([header, body])
}

/** The message with the version of the protocol. */
const begin = message('begin', Buffer.from('1'))
const samples = message('samples', new Uint8Array(65_536))
/** Shell commands that start the fake media program again, so that its output never ends. */
const repeat = 'exec "$0"'
const end = (record: object) => message('end', Buffer.from(JSON.stringify(record)))

/**
 * Writes a fake media program, and returns its path. The program prints `first` and `output`, and then runs the shell
 * commands in `then`. The program is a shell script, because a shell needs a tenth of the CPU time of Bun to start.
 */
function standIn(output: readonly Uint8Array[], then = '', first = begin): string {
  const path = join(temporaryFolder(), 'program')
  writeFileSync(`${path}.output`, Buffer.concat([first, ...output]))
  writeFileSync(path, `#!/bin/sh\n/bin/cat '${path}.output'\n${then}\n`, { mode: 0o755 })
  return path
}

async function decodeWith(mediaProgram: string, bounds: Partial<Bounds> = {}): Promise<number> {
  let count = 0
  for await (const part of decode(wav, { signal: forever, durationMsMax: 60_000, mediaProgram, bounds }))
    count += part.length
  return count
}

/**
 * Collects the field `cause` of each line that is logged. Returns a function that ends the collection and returns the
 * causes.
 */
function collectCauses(): () => unknown[] {
  const causes: unknown[] = []
  passLogTo(({ fields }) => causes.push(fields.cause))
  return () => {
    passLogTo(() => {})
    return causes
  }
}

const inspectWith = (mediaProgram: string, bounds: Partial<Bounds> = {}) =>
  openMedia({ durationMsMin, durationMsMax, mediaProgram, bounds }).inspect(wav, { signal: forever })

const inspection = { container: 'wav', codec: 'pcm_s16', sampleRate: 8000, channels: 1, durationMs: 5000 }
const faults: Record<string, [output: Uint8Array[], then?: string]> = {
  'ends at once': [[]],
  'ends with an error': [[], 'exit 3'],
  'is killed': [[], 'kill -KILL $$'],
  'is killed in the middle of a message': [[Buffer.of(83, 84, 0)], 'kill -KILL $$'],
  'crashes after some samples': [[samples], 'kill -ABRT $$'],
  'prints rubbish': [[crypto.getRandomValues(new Uint8Array(65_536))]],
  'sends a result that is no JSON': [[message('end', Buffer.from('{'))]],
  'sends an end without a result': [[end({})]],
  'sends a result that is no object': [[end({ done: null })]],
  'sends a part of a sample': [
    [message('samples', new Uint8Array(6)), end({ done: { samples: 1, damaged: 0 } })],
  ],
  'refuses for an unknown reason': [[end({ refused: 'constructor' })]],
  'sends a message that is too long': [[Buffer.of(83, 84, 0, 1, 255, 255, 255, 255)], repeat],
}

describe.each(Object.entries(faults))('a child that %s', (_, fault) => {
  test('fails an inspection', async () => {
    expect(await failureOf(inspectWith(standIn(...fault)))).toMatchObject({ code: 'PROCESSING_ERROR' })
  })

  test('fails a decoding', async () => {
    expect(await failureOf(decodeWith(standIn(...fault)))).toMatchObject({ code: 'PROCESSING_ERROR' })
  })
})

test('an inspection without a field, or with a field that is no name or no count, is refused', async () => {
  expect(readInspection({ ...inspection, more: '<script>' })).toEqual(inspection)
  expect(readInspection({ ...inspection, codec: 'c'.repeat(32), durationMs: 0 })).not.toBeNull()
  const wrong = {
    name: [undefined, null, 7, ['wav'], '', '<script>', 'a b', 'wav\n', 'c'.repeat(33)],
    count: [undefined, null, -1, 0.5, '5000', Number.POSITIVE_INFINITY, Number.NaN],
  }
  for (const [field, value] of Object.entries(inspection))
    for (const given of typeof value === 'string' ? wrong.name : wrong.count)
      expect([field, given, readInspection({ ...inspection, [field]: given })]).toEqual([field, given, null])
  expect(readInspection({ ...inspection, channels: 1e300 })).toBeNull()
  for (const none of [null, undefined, 'wav', []]) expect(readInspection(none)).toBeNull()
  const causes = collectCauses()
  expect(await failureOf(inspectWith(standIn([end({ done: {} })])))).toMatchObject({
    code: 'PROCESSING_ERROR',
  })
  expect(causes()).toEqual(['an invalid result'])
})

test.each(['alive', 'begin', 'samples'] as const)(
  'an inspection fails if a message of the kind %s comes before its result: endless messages would block the server',
  async kind => {
    const program = standIn([message(kind, new Uint8Array(0)), end({ done: inspection })])
    expect(await failureOf(inspectWith(program))).toMatchObject({ code: 'PROCESSING_ERROR' })
  },
)

test.each<[what: string, bytes: number[], error: string]>([
  ['has another mark', [83, 85, 0, 2, 0, 0, 0, 0], 'not a message'],
  ['is longer than 64 KB', [83, 84, 0, 1, 0, 1, 0, 1], 'not a message'],
  ['is of no known kind', [83, 84, 0, 9, 0, 0, 0, 0], 'a message of no known kind'],
  ['is cut off', [83, 84, 0, 2, 0, 0, 0], 'the last message is cut off'],
])('a message that %s is refused', async (_, bytes, error) => {
  async function* chunks() {
    yield new Uint8Array([83, 84, 0, 2, 0, 0, 0, 0, ...bytes])
  }
  const messages = readMessages(chunks())
  expect((await messages.next()).value).toEqual({ kind: 'alive', body: new Uint8Array(0) })
  await expect(messages.next()).rejects.toThrow(error)
})

test('a correct result is accepted', async () => {
  expect(await inspectWith(standIn([end({ done: inspection })]))).toMatchObject({ durationMs: 5000 })
  expect(await decodeWith(standIn([samples, samples, end({ done: {} })]))).toBe(32_768)
})

test('a child that hangs is killed', async () => {
  const causes = collectCauses()
  const command = standIn([samples], 'exec /bin/sleep 1000')
  expect(await failureOf(decodeWith(command, { stallMs: 500 }))).toMatchObject({ code: 'PROCESSING_ERROR' })
  expect(await failureOf(inspectWith(command, { stallMs: 500 }))).toMatchObject({ code: 'PROCESSING_ERROR' })
  expect(causes()).toEqual(['no message for too long', 'an inspection has only a result'])
})

test('a child that sends too many samples is killed', async () => {
  const causes = collectCauses()
  expect(await failureOf(decodeWith(standIn(Array(20).fill(samples), repeat)))).toMatchObject({
    code: 'PROCESSING_ERROR',
  })
  expect(causes()).toEqual(['too many samples'])
})

test('a file with much more sound than was measured is refused, and one with much less is in the log', async () => {
  const events: [string, unknown][] = []
  passLogTo(({ event, fields }) => events.push([event, fields]))
  const mediaProgram = standIn([...Array(20).fill(samples), end({ done: { damaged: 1 } })])
  const decoded = async (measuredMs: number) => {
    for await (const _ of decode(wav, { signal: forever, durationMsMax, mediaProgram, measuredMs }));
    return events.splice(0)
  }
  expect(await failureOf(decoded(9000))).toEqual({
    code: 'INVALID_MEDIA_FORMAT',
    message: 'The times in the file are wrong: it has much more sound than they say.',
  })
  const damaged: [string, unknown] = ['media damaged', { packets: 1 }]
  expect(await decoded(11_000)).toEqual([damaged])
  expect(await decoded(31_000)).toEqual([damaged])
  const fields = { decoded_ms: 20_480, measured_ms: 33_000 }
  expect(await decoded(33_000)).toEqual([damaged, ['media shorter than measured', fields]])
  passLogTo(() => {})
})

test('a file that needs more memory than the limit is refused', async () => {
  const tight = openMedia({ durationMsMin, durationMsMax, bounds: { memoryBytes: 256 * 1024 } })
  const { code } = await failureOf(tight.inspect(fixture('h264-aac.mp4'), { signal: forever }))
  expect(['INVALID_MEDIA_FORMAT', 'PROCESSING_ERROR']).toContain(code)
})

test('a cancelled job kills its child and ends with the reason', async () => {
  const controller = new AbortController()
  const reason = new Error('cancelled')
  const mediaProgram = standIn([samples], 'exec /bin/sleep 1000')
  const parts = decode(wav, { signal: controller.signal, durationMsMax, mediaProgram })
  await parts.next()
  expect(children()).toHaveLength(1)
  const next = parts.next()
  controller.abort(reason)
  expect(await next.catch(error => error)).toBe(reason)

  const late = await media.inspect(wav, { signal: controller.signal }).catch(error => error)
  expect(late).toBe(reason)
})

test('leaving the loop early ends the child, and leaves no listener', async () => {
  const { signal } = new AbortController()
  for await (const _ of decode(fixture('changing.mp3'), { signal, durationMsMax })) break
  expect([children(), getEventListeners(signal, 'abort')]).toEqual([[], []])
})

test('the child inherits the file on stdin, but no environment and no open files of the server', async () => {
  const folder = temporaryFolder()
  using database = new Database(join(folder, 'steno.db'), { create: true })
  database.run('create table t (a)')
  using server = Bun.serve({ port: 0, fetch: () => new Response() })
  process.env.STENO_SECRET_OF_THE_TEST = String(server.port)
  const mediaProgram = join(folder, 'program.ts')
  const source = `#!${process.execPath}
    import { readdirSync, readlinkSync, writeSync } from 'node:fs'
    const target = fd => { try { return readlinkSync('/proc/self/fd/' + fd) } catch { return '' } }
    const open = readdirSync('/proc/self/fd').filter(fd => fd > 2).map(target)
    const done = { stdin: target(0), open, env: Object.keys(process.env), cwd: process.cwd() }
    const body = Buffer.from(JSON.stringify({ done }))
    const header = Buffer.from([0x53, 0x54, 0, ${kinds.end}, 0, 0, body.length >> 8, body.length & 0xff])
    writeSync(1, Buffer.concat([Buffer.from('${begin.toBase64()}', 'base64'), header, body]))`
  writeFileSync(mediaProgram, source, { mode: 0o755 })
  const work = { operation: 'inspect', channel: 0 } as const
  const child = runChild(work, wav, { signal: forever, durationMsMax, mediaProgram })
  const { value } = (await child.next()) as {
    value: { stdin: string; open: string[]; env: string[]; cwd: string }
  }
  await child.return(undefined)
  delete process.env.STENO_SECRET_OF_THE_TEST

  expect(value.stdin).toBe(wav)
  expect(value.open.filter(target => /socket|steno|^\/(?!dev|proc)/.test(target))).toEqual([])
  expect(value.env).toEqual([])
  expect(value.cwd).toBe('/')
})

test('the media program confines itself before it reads the file', async () => {
  // The test reads only one chunk of sound. The pipe is then full, so the media program still runs during the checks.
  const parts = decode(longWav(), {
    signal: forever,
    durationMsMax: 1e6,
    bounds: { memoryBytes: 100_000_000 },
  })
  await parts.next()
  const [pid] = children()
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const limitsOf = readFileSync(`/proc/${pid}/limits`, 'utf8')
  const nice = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[18]
  await parts.return()

  // `SigBlk` is the bit mask of the blocked signals. Its bits 0 and 1 belong to the signals 1 and 2: SIGHUP (a closed
  // terminal) and SIGINT (Ctrl-C).
  expect(status).toMatch(/^SigBlk:\s+0+3$/m)
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
  expect(status).toMatch(/^CapEff:\s+0+$/m)
  expect(status).toMatch(/^Seccomp:\s+2$/m)
  expect(limitsOf).toMatch(/^Max data size\s+100000000 /m)
  expect(limitsOf).toMatch(/^Max file size\s+0 /m)
  expect(limitsOf).toMatch(/^Max core file size\s+0 /m)
  expect(nice).toBe('10')
})

test('an inspection has the lowest CPU priority, and time limits of its own', async () => {
  const path = join(temporaryFolder(), 'arguments')
  const program = standIn([], `echo "$0 $*" > '${path}'`)
  using timers = spyOn(globalThis, 'setTimeout')
  await failureOf(inspectWith(program))
  expect(timers.mock.calls.map(([, ms]) => ms)).toContain(limits.mediaInspectMs)
  expect(readFileSync(path, 'utf8')).toContain(' inspect ')
  expect(readFileSync(path, 'utf8')).toContain(` cpu_ms=${limits.mediaInspectCpuMs} `)
  expect(readFileSync(path, 'utf8')).toContain('priority=19')
})

test('an inspection waits while the server has no free file descriptor', async () => {
  const script = join(temporaryFolder(), 'exhausted.ts')
  writeFileSync(
    script,
    `import { closeSync, openSync } from 'node:fs'
     import { openMedia } from ${JSON.stringify(join(import.meta.dir, '../../src/media/inspect.ts'))}
     const media = openMedia({ durationMsMin: 0, durationMsMax: 60_000 })
     const held = []
     try { for (;;) held.push(openSync('/dev/null')) } catch {}
     const inspected = media.inspect(process.argv[2], { signal: new AbortController().signal })
     setImmediate(() => held.forEach(file => closeSync(file)))
     console.log((await inspected).codec)`,
  )
  const limited = ['sh', '-c', 'ulimit -n 100; exec "$@"', 'sh', process.execPath, script, wav]
  const child = Bun.spawn(limited, { stdout: 'pipe', stderr: 'pipe' })
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  expect([out, errors, await child.exited]).toEqual(['pcm_s16le\n', '', 0])
})

test('FFmpeg is never loaded in the server process', async () => {
  await media.inspect(wav, { signal: forever })
  expect(readFileSync('/proc/self/maps', 'utf8')).not.toMatch(/steno-media|avcodec/)
})

test('the media program ends with its parent', async () => {
  // The parent process reads only one chunk of sound. The pipe is then full, so the media program still runs when the
  // parent is killed.
  const parent = Bun.spawn(
    [
      process.execPath,
      '-e',
      `import { decode } from ${JSON.stringify(join(import.meta.dir, '../../src/media/decode.ts'))}
       const parts = decode(${JSON.stringify(longWav())}, { signal: new AbortController().signal, durationMsMax: 1e6 })
       await parts.next()
       console.log('going')
       await new Promise(() => setInterval(() => {}, 1000))`,
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  )
  await parent.stdout.getReader().read()
  const [child] = childrenOf(parent.pid)
  expect(child).toBeGreaterThan(0)
  parent.kill('SIGKILL')
  await parent.exited
  await until(() => !isRunning(child ?? 0))
})

/** Writes a copy of the media program after `change` has changed its bytes. Returns the path of the copy. */
function changedProgram(change: (program: Buffer) => Buffer): string {
  const path = join(temporaryFolder(), 'changed')
  writeFileSync(path, change(readFileSync(findProgram(null))), { mode: 0o755 })
  return path
}

const broken: [what: string, program: () => string][] = [
  ['is missing', () => '/no/such/program'],
  ['is a folder', () => temporaryFolder()],
  ['cannot be executed', () => fixture('pcm.wav')],
  ['is cut off', () => changedProgram(program => program.subarray(0, program.length / 2))],
  // In a program file, bytes 18 and 19 contain the number of the CPU type. No CPU type has the number 65,535.
  ['is made for another CPU', () => changedProgram(program => program.fill(0xff, 18, 20))],
  ['is another program', () => '/bin/true'],
  ['prints without end', () => '/usr/bin/yes'],
]

test.each(broken)('a media program that %s is not the fault of the file', async (_, program) => {
  const failure = { code: 'PROCESSING_ERROR' }
  expect(await failureOf(inspectWith(program()))).toMatchObject(failure)
  expect(await failureOf(decodeWith(program()))).toMatchObject(failure)
})

test.each([
  ['has another version', message('begin', Buffer.from('2'))],
  ['sends no version', Buffer.alloc(0)],
])('a media program that %s is refused', async (_, first) => {
  expect(await failureOf(inspectWith(standIn([end({ done: inspection })], '', first)))).toMatchObject({
    code: 'PROCESSING_ERROR',
  })
})

test.each(['SIGSTOP', 'SIGKILL', 'SIGTERM'] as const)(
  '%s to the media program fails the job',
  async signal => {
    const parts = decode(longWav(), { signal: forever, durationMsMax: 1e6, bounds: { stallMs: 500 } })
    await parts.next()
    const [pid] = children()
    process.kill(pid ?? 0, signal)
    const rest = async () => {
      for await (const _ of parts);
    }
    expect(await failureOf(rest())).toMatchObject({ code: 'PROCESSING_ERROR' })
  },
)

test('an order with a wrong argument is refused by the media program', async () => {
  const order: MediaOrder = { ...anOrder, parent: process.pid }
  const given = argumentsOf(order)
  for (const args of [
    given.slice(1),
    given.slice(0, -1),
    [...given, 'more=1'],
    ['sing', ...given.slice(1)],
  ]) {
    const child = Bun.spawn([findProgram(null), ...args], { stdin: Bun.file(wav), stderr: 'ignore' })
    expect(await child.stdout.text()).toBe('')
    expect(await child.exited).toBe(2)
  }
})

test('a decoding ends at its limit of CPU time', async () => {
  // A sparse file of 4 GB, which needs almost no disk space. It has 163 s of sound with 64 channels at 192 kHz. The
  // media program mixes 64 channels and sends only 16,000 samples per second, so the test process has little work. To
  // decode the whole file, the media program would need about ten seconds of CPU time. The limit `cpuMs` is one second,
  // so the decoding is stopped before the end of the file.
  const path = join(temporaryFolder(), 'long.wav')
  writeFileSync(path, wavHeader(4e9, { sampleRate: 192_000, channels: 64, bytesPerSample: 2 }))
  truncateSync(path, 4e9)
  const bounds = { openCpuMs: 1000, cpuMs: 1000, priority: 0 }
  const all = async () => {
    for await (const _ of decode(path, { signal: forever, durationMsMax: 1e9, bounds }));
  }
  expect(await failureOf(all())).toEqual({
    code: 'INVALID_MEDIA_FORMAT',
    message: 'Reading the file takes more time than a media file may.',
  })
})

test('the order to the media program has the limits of the operation in whole numbers', () => {
  const order = { ...anOrder, parent: 7, priority: 19, openCpuMs: 1500.5, channel: 2 }
  const common = { parent: 7, priority: 19, open_cpu_ms: 1500, cpu_ms: 1000, memory_bytes: 1e8 }
  const fixed = {
    probe_bytes: limits.mediaProbeBytes,
    damaged_packets_max: limits.mediaDamagedPacketsMax,
    alive_every_ms: limits.mediaAliveEveryMs,
    channel: 2,
  }
  const argumentsWith = (operation: string, samplesMax: number) => [
    operation,
    ...Object.entries({ ...common, samples_max: samplesMax, ...fixed }).map(each => each.join('=')),
  ]
  expect(argumentsOf(order)).toEqual(argumentsWith('inspect', 16_000_000))
  expect(argumentsOf({ ...order, operation: 'decode' })).toEqual(argumentsWith('decode', 16_960_000))
})

const anOrder: MediaOrder = {
  operation: 'inspect',
  parent: 0,
  priority: 0,
  openCpuMs: 1000,
  cpuMs: 1000,
  memoryBytes: 1e8,
  durationMsMax: 1e6,
  channel: 0,
}

/** Writes a WAV file with ten minutes of silence and no length in its header. Returns its path. */
function longWav(): string {
  const path = join(temporaryFolder(), 'long.wav')
  const header = readFileSync(wav).subarray(0, 44)
  header.writeUInt32LE(0xffffffff, 40)
  writeFileSync(path, header)
  // The added bytes are zeros, which are silence.
  truncateSync(path, header.length + 600 * 8000 * 2)
  return path
}

/** Waits until `holds` returns true. The only limit is the timeout of the test. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(5)
}
