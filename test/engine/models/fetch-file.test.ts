import { expect, spyOn, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fetchFile } from '../../../src/engine/models/fetch-file.ts'
import { limits } from '../../../src/limits.ts'
import { SourceError } from '../../../src/net/source.ts'
import { temporaryFolder } from '../../support/folder.ts'

const pause = async () => {}

const module = JSON.stringify(join(import.meta.dir, '../../../src/engine/models/fetch-file.ts'))

test('a full disk is an error that can be caught, and does not end the process', async () => {
  const folder = temporaryFolder()
  const script = `
    const { fetchFile } = await import(${module})
    async function* body() {
      for (let count = 0; count < 20; count++) yield new Uint8Array(10_000)
    }
    const open = async () => ({ body: body(), resumed: false })
    const wanted = { name: 'a', size: 200_000, open, isGood: async () => true, signal: new AbortController().signal }
    await fetchFile(${JSON.stringify(join(folder, 'a'))}, wanted, () => {}).catch(error => console.log(error.code))`
  const limited = ['bash', '-c', `trap '' XFSZ; ulimit -f 64; exec "$0" -e "$1"`, process.execPath, script]
  const { stdout, exitCode } = Bun.spawnSync(limited)
  expect([stdout.toString().trim(), exitCode]).toEqual(['EFBIG', 0])
})

test('a file that breaks off once in each download, and has a wrong hash, is given up', async () => {
  let downloads = 0
  const open = async (from: number) => {
    if (from === 0) downloads++
    async function* body() {
      yield new Uint8Array(50)
      if (from === 0) throw new SourceError('the transfer of a broke off')
    }
    return { body: body(), resumed: true, total: 100 }
  }
  const { signal } = new AbortController()
  // After many downloads, `isGood` accepts the hash, so that the test ends even if `fetchFile` never gives up.
  const isGood = async () => downloads > 2 * limits.pullTriesMax
  const remote = { name: 'a', size: 100, open, isGood, signal }
  const path = join(temporaryFolder(), 'a')
  await expect(fetchFile(path, remote, () => {})).rejects.toThrow('does not have the hash')
  expect(downloads).toBe(limits.pullTriesMax)
})

test('a download that cannot be resumed, and gets no longer than in an earlier attempt, is given up', async () => {
  const sizes = [50, ...Array.from({ length: 10 }, () => [30, 40]).flat()]
  let downloads = 0
  const open = async () => {
    const size = sizes[downloads++]
    // Without this error, the test would not end if `fetchFile` never gave up.
    if (size === undefined) throw new Error('the file was not given up')
    async function* body() {
      yield new Uint8Array(size ?? 0)
    }
    return { body: body(), resumed: false, total: 100 }
  }
  const { signal } = new AbortController()
  const remote = { name: 'a', size: 100, open, isGood: async () => true, signal, pause }
  const path = join(temporaryFolder(), 'a')
  await expect(fetchFile(path, remote, () => {})).rejects.toThrow('the transfer of a broke off')
  expect(downloads).toBe(1 + limits.pullTriesMax)
})

/**
 * Downloads a file of 100 bytes, of which the disk already has `partBytes` bytes. Transfer n gives `sizes[n]` bytes. If
 * `abort` is given, the download is aborted with this reason after the bytes of the first transfer. If `failure` is
 * given, each transfer fails with this error after its bytes. Returns the start offsets of the transfers, the reported
 * progress, the pauses between attempts (in ms), and the file size or the error message.
 */
async function fetched(
  partBytes: number,
  sizes: number[],
  { abort, failure }: { abort?: Error; failure?: Error } = {},
) {
  const stop = new AbortController()
  const path = join(temporaryFolder(), 'a')
  await Bun.write(`${path}.part`, new Uint8Array(partBytes))
  const begins: number[] = []
  const reached: number[] = []
  const pauses: number[] = []
  const pause = async (ms: number) => void pauses.push(ms)
  const open = async (from: number) => {
    begins.push(from)
    const size = sizes.shift() ?? 0
    async function* body() {
      yield new Uint8Array(size)
      if (abort) stop.abort(abort)
      if (failure) throw failure
    }
    return { body: body(), resumed: true, total: 100 }
  }
  const remote = { name: 'a', size: 100, open, isGood: async () => true, signal: stop.signal, pause }
  const error = await fetchFile(path, remote, bytes => reached.push(bytes)).catch(({ message }) => message)
  return { begins, reached, pauses, result: error ?? Bun.file(path).size }
}

test.each([
  ['a part that is complete needs no transfer', 100, [], [], [], 100],
  ['a part that is longer than the file is downloaded from its start', 150, [100], [0], [100], 100],
  ['a part is continued', 30, [20, 50], [30, 50], [50, 100], 100],
])('%s', async (_, partBytes, sizes, begins, reached, result) => {
  expect(await fetched(partBytes, sizes)).toEqual({ begins, reached, pauses: [], result })
})

test('a transfer whose connection breaks is continued', async () => {
  const failure = new Error('The socket connection was closed unexpectedly')
  expect(await fetched(0, [30, 70], { failure })).toMatchObject({ begins: [0, 30], pauses: [], result: 100 })
})

test.each([
  ['was emptied by a power cut', '', 1],
  ['was damaged by a power cut', 'old', 1],
  ['is good', 'new', 0],
])('a file of an interrupted download that %s: %p is downloaded again %p times', async (_, found, times) => {
  let transfers = 0
  const open = async () => {
    transfers++
    return { body: new Blob(['new']).stream(), resumed: false, total: 3 }
  }
  const isGood = async (file: string) => (await Bun.file(file).text()) === 'new'
  const path = join(temporaryFolder(), 'a')
  await Bun.write(path, found)
  const { signal } = new AbortController()
  await fetchFile(path, { name: 'a', size: 3, open, isGood, signal }, () => {})
  expect([transfers, await Bun.file(path).text()]).toEqual([times, 'new'])
})

test('a complete file is flushed to the disk before it gets its name', async () => {
  const path = join(temporaryFolder(), 'a')
  await using probe = await openFile(import.meta.path)
  using flushed = spyOn(Object.getPrototypeOf(probe), 'datasync')
  const states: unknown[] = []
  const isGood = async () => {
    states.push([flushed.mock.calls.length, existsSync(path)])
    return true
  }
  const open = async () => ({ body: new Blob(['new']).stream(), resumed: false, total: 3 })
  const { signal } = new AbortController()
  await fetchFile(path, { name: 'a', size: 3, open, isGood, signal }, () => {})
  expect(states).toEqual([[1, false]])
})

test('an empty file is downloaded', async () => {
  const path = join(temporaryFolder(), 'a')
  const open = async () => ({ body: new Blob([]).stream(), resumed: false, total: 0 })
  const { signal } = new AbortController()
  await fetchFile(path, { name: 'a', size: 0, open, isGood: async () => true, signal }, () => {})
  expect(await Bun.file(path).bytes()).toEqual(new Uint8Array())
})

test('a transfer that is longer than the file is refused', async () => {
  const { result } = await fetched(0, Array(20).fill(101))
  expect(result).toBe('a is longer than its source says')
})

/**
 * Downloads a file from a source that refuses each transfer with the status, or that cannot be reached if the status is
 * null. Returns the number of transfers, the pauses between them in milliseconds, and the error message.
 */
async function refused(status: number | null) {
  const pauses: number[] = []
  let transfers = 0
  const open = async () => {
    transfers++
    throw new SourceError(`refused with ${status}`, status)
  }
  const { signal } = new AbortController()
  const pause = async (ms: number) => void pauses.push(ms)
  const remote = { name: 'a', size: 100, open, isGood: async () => true, signal, pause }
  const message = await fetchFile(join(temporaryFolder(), 'a'), remote, () => {}).catch(
    error => error.message,
  )
  return { transfers, pauses, message }
}

test('the pauses between attempts without progress grow, and a refusal that will not change is not tried again', async () => {
  for (const status of [null, 503, 429, 408])
    expect(await refused(status)).toEqual({
      transfers: limits.pullTriesMax,
      pauses: [1000, 2000, 4000, 8000],
      message: `refused with ${status}`,
    })
  for (const status of [401, 404]) expect(await refused(status)).toMatchObject({ transfers: 1, pauses: [] })
})

test('an abort ends a pause', async () => {
  const stop = new AbortController()
  const open = async () => {
    setImmediate(() => stop.abort(new Error('stopped')))
    throw new SourceError('unreachable')
  }
  const remote = { name: 'a', size: 100, open, isGood: async () => true, signal: stop.signal }
  await expect(fetchFile(join(temporaryFolder(), 'a'), remote, () => {})).rejects.toThrow('stopped')
})

test('a download that is aborted, or that fails on this machine, is not tried again', async () => {
  const stopped = await fetched(0, [30, 70], { abort: new Error('stopped') })
  expect(stopped).toMatchObject({ begins: [0], reached: [30], result: 'stopped' })
  let opened = 0
  const open = async () => {
    opened++
    throw new Error('no memory')
  }
  const { signal } = new AbortController()
  const remote = { name: 'a', size: 100, open, isGood: async () => true, signal }
  await expect(fetchFile(join(temporaryFolder(), 'a'), remote, () => {})).rejects.toThrow('no memory')
  expect(opened).toBe(1)
})
