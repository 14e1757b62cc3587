// Tests jobs whose media child crashes, hangs or sends wrong data. The job must fail with the correct code,
// and no child process may remain.

import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode } from '../../src/media/decode.ts'
import { openMedia } from '../../src/media/inspect.ts'
import { type Bounds, runChild } from '../../src/media/spawn.ts'
import { defaults } from '../support/defaults.ts'
import { temporaryFolder } from '../support/folder.ts'
import { failureOf, fixture, forever, media, patienceMs } from './files.ts'
import { childrenOf, isRunning } from './processes.ts'

setDefaultTimeout(patienceMs)

const { durationMsMin, durationMsMax } = defaults
const wav = fixture('pcm.wav')

/** Checks that no child process remains, not even a zombie process. */
afterEach(() => {
  expect(childrenOf(process.pid)).toEqual([])
})

/**
 * Returns the command of a simulated media child. The child runs `lines`, which can use `send` and `confine`.
 */
function standIn(lines: string): string[] {
  const source = (name: string) => JSON.stringify(join(import.meta.dir, '../../src/media', name))
  return [
    process.execPath,
    '-e',
    `import { writeSync } from 'node:fs'
     import { confine, limitCpu } from ${source('child/confine.ts')}
     import { writeMessage } from ${source('wire.ts')}
     const order = JSON.parse(process.argv.at(-1))
     const send = (kind, body) => writeSync(1, writeMessage(kind, body))
     const end = record => send('end', new TextEncoder().encode(JSON.stringify(record)))
     const samples = () => send('samples', new Uint8Array(65536))
     ${lines}`,
  ]
}

async function decodeWith(command: string[], bounds: Partial<Bounds> = {}): Promise<number> {
  let count = 0
  for await (const part of decode(wav, { signal: forever, durationMsMax: 60_000, command, bounds }))
    count += part.length
  return count
}

const inspectWith = (command: string[], bounds: Partial<Bounds> = {}) =>
  openMedia({ durationMsMin, durationMsMax, command, bounds }).inspect(wav, { signal: forever })

const good = `{ container: 'wav', codec: 'pcm', sampleRate: 8000, channels: 1, durationMs: 5000 }`
const faults = {
  'ends at once': 'process.exit(0)',
  'ends with an error': 'process.exit(3)',
  'is killed': `process.kill(process.pid, 'SIGKILL')`,
  'is killed in the middle of a message': `writeSync(1, new Uint8Array([83, 84, 0])); process.kill(process.pid, 'SIGKILL')`,
  'crashes after some samples': `samples(); process.abort()`,
  'prints rubbish': `for (let i = 0; i < 100; i++) writeSync(1, crypto.getRandomValues(new Uint8Array(5000)))`,
  'sends a result that is no JSON': `send('end', new TextEncoder().encode('{'))`,
  'sends an end without a result': `end({})`,
  'refuses for an unknown reason': `end({ refused: 'constructor' })`,
  'sends a message that is too long': `writeSync(1, new Uint8Array([83, 84, 0, 1, 255, 255, 255, 255])); for (;;) samples()`,
}

describe.each(Object.entries(faults))('a child that %s', (_, lines) => {
  test('fails an inspection', async () => {
    expect(await failureOf(inspectWith(standIn(lines)))).toMatchObject({ code: 'PROCESSING_ERROR' })
  })

  test('fails a decoding', async () => {
    expect(await failureOf(decodeWith(standIn(lines)))).toMatchObject({ code: 'PROCESSING_ERROR' })
  })
})

test.each([
  `{ ...${good}, durationMs: -1 }`,
  `{ ...${good}, durationMs: '5000' }`,
  `{ ...${good}, durationMs: 1e300 }`,
  `{ ...${good}, codec: '<script>' }`,
  `{ ...${good}, container: undefined }`,
  'null',
])('an inspection of %s is refused', async record => {
  expect(await failureOf(inspectWith(standIn(`end({ done: ${record} })`)))).toMatchObject({
    code: 'PROCESSING_ERROR',
  })
})

test('a correct result is accepted', async () => {
  expect(await inspectWith(standIn(`end({ done: ${good} })`))).toMatchObject({ durationMs: 5000 })
  expect(await decodeWith(standIn('samples(); samples(); end({ done: {} })'))).toBe(32_768)
})

test('a child that hangs is killed', async () => {
  const command = standIn('samples(); await new Promise(() => setInterval(() => {}, 1000))')
  expect(await failureOf(decodeWith(command, { stallMs: 500 }))).toMatchObject({ code: 'PROCESSING_ERROR' })
  expect(await failureOf(inspectWith(command, { stallMs: 500 }))).toMatchObject({ code: 'PROCESSING_ERROR' })
})

test('a child that sends too many samples is killed', async () => {
  expect(await failureOf(decodeWith(standIn('for (;;) samples()')))).toMatchObject({
    code: 'PROCESSING_ERROR',
  })
})

test.each([
  ['opening a file', 'confine(order); for (;;) {}', { openCpuMs: 1000, cpuMs: 60_000 }],
  [
    'an operation',
    'confine(order); limitCpu(order.cpuMs, order.cpuMs); for (;;) {}',
    { openCpuMs: 500, cpuMs: 2000 },
  ],
])('an endless loop in %s ends at its limit of CPU time', async (_, lines, bounds) => {
  expect(await failureOf(inspectWith(standIn(lines), { ...bounds, priority: 0 }))).toEqual({
    code: 'INVALID_MEDIA_FORMAT',
    message: 'Reading the file takes more time than a media file may.',
  })
})

test('a file that needs more memory than the limit is refused', async () => {
  const tight = openMedia({ durationMsMin, durationMsMax, bounds: { memoryBytes: 256 * 1024 } })
  const { code } = await failureOf(tight.inspect(fixture('h264-aac.mp4'), { signal: forever }))
  expect(['INVALID_MEDIA_FORMAT', 'PROCESSING_ERROR']).toContain(code)
})

test('a cancelled job kills its child and ends with the reason', async () => {
  const controller = new AbortController()
  const reason = new Error('cancelled')
  const command = standIn('samples(); await new Promise(() => setInterval(() => {}, 1000))')
  const parts = decode(wav, { signal: controller.signal, durationMsMax, command })
  await parts.next()
  expect(childrenOf(process.pid)).toHaveLength(1)
  const next = parts.next()
  controller.abort(reason)
  expect(await next.catch(error => error)).toBe(reason)

  const late = await media.inspect(wav, { signal: controller.signal }).catch(error => error)
  expect(late).toBe(reason)
})

test('leaving the loop early ends the child', async () => {
  for await (const _ of decode(fixture('changing.mp3'), { signal: forever, durationMsMax })) break
  expect(childrenOf(process.pid)).toEqual([])
})

test('the child inherits the file on stdin, but no environment and no open files of the server', async () => {
  const folder = temporaryFolder()
  using database = new Database(join(folder, 'steno.db'), { create: true })
  database.run('create table t (a)')
  using server = Bun.serve({ port: 0, fetch: () => new Response() })
  process.env.STENO_SECRET_OF_THE_TEST = String(server.port)
  const command = standIn(`
    import { readdirSync, readlinkSync } from 'node:fs'
    const target = fd => { try { return readlinkSync('/proc/self/fd/' + fd) } catch { return '' } }
    const open = readdirSync('/proc/self/fd').filter(fd => fd > 2).map(target)
    const { getPriority } = await import('node:os')
    const stdin = target(0)
    confine(order)
    end({ done: { stdin, open, env: Object.keys(process.env), cwd: process.cwd(), nice: getPriority() } })
  `)
  const child = runChild('inspect', wav, { signal: forever, durationMsMax, command })
  const { value } = (await child.next()) as {
    value: { stdin: string; open: string[]; env: string[]; cwd: string; nice: number }
  }
  await child.return(undefined)
  delete process.env.STENO_SECRET_OF_THE_TEST

  expect(value.stdin).toBe(wav)
  expect(value.open.filter(target => /socket|steno|^\/(?!dev|proc)/.test(target))).toEqual([])
  expect(value.env).toEqual(['BUN_ENABLE_CRASH_REPORTING'])
  expect(value).toMatchObject({ cwd: '/', nice: 19 })
})

test('FFmpeg is never loaded in the server process', async () => {
  await media.inspect(wav, { signal: forever })
  expect(readFileSync('/proc/self/maps', 'utf8')).not.toContain('node-av')
})

test('a confined child cannot write a file', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'written')
  const command = standIn(`confine(order); const { writeFileSync } = await import('node:fs')
    writeFileSync(${JSON.stringify(path)}, 'bytes'); end({ done: ${good} })`)
  expect(await failureOf(inspectWith(command))).toMatchObject({ code: 'PROCESSING_ERROR' })
  expect(existsSync(path) && readFileSync(path, 'utf8')).not.toBe('bytes')
})

test('a child ends with its parent', async () => {
  // The pipe becomes full, so the grandchild is still running when the test kills its parent.
  const parent = Bun.spawn(
    [
      process.execPath,
      '-e',
      `import { decode } from ${JSON.stringify(join(import.meta.dir, '../../src/media/decode.ts'))}
       const command = ${JSON.stringify(standIn('confine(order); samples(); await new Promise(() => setInterval(() => {}, 1000))'))}
       const parts = decode(${JSON.stringify(wav)}, { signal: new AbortController().signal, durationMsMax: 1e6, command })
       await parts.next()
       console.log('going')
       await parts.next()`,
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  )
  await parent.stdout.getReader().read()
  const [child] = childrenOf(parent.pid)
  expect(child).toBeGreaterThan(0)
  parent.kill('SIGKILL')
  await parent.exited
  await until(() => !isRunning(child!))
})

/** Waits until `holds` returns true. The timeout of the test limits the wait. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(5)
}
