// Tests uploads whose bytes cannot be written. In some tests, a limit of the file size simulates a full disk.

import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { diskRefusalOf } from '../../src/base/disk-refusal.ts'
import { append, receive } from '../../src/uploads/disk.ts'
import { temporaryFolder } from '../support/folder.ts'

const scratch = temporaryFolder()

const roomKb = 64
const draftModule = JSON.stringify(join(import.meta.dir, '../../src/base/whole-file.ts'))
const module = JSON.stringify(join(import.meta.dir, '../../src/uploads/disk.ts'))

/**
 * Calls `receive` in a child process, with chunks of the given sizes. `out` has the result of the call and the number
 * of remaining files.
 */
async function receiveInto(name: string, chunks: number[]): Promise<{ out: string; err: string }> {
  const folder = join(scratch, name)
  mkdirSync(folder)
  const script = `
    const { receive } = await import(${module})
    const { Draft } = await import(${draftModule})
    const { readdirSync } = await import('node:fs')
    const chunks = ${JSON.stringify(chunks)}
    const body = new ReadableStream({
      pull(controller) {
        const size = chunks.shift()
        if (size === undefined) controller.close()
        else controller.enqueue(new Uint8Array(size))
      },
    })
    const [path, limit] = [${JSON.stringify(join(folder, 'sound'))}, { bytesMax: 1e9 }]
    async function store() {
      using draft = new Draft(path)
      try {
        const { fileBytes } = await receive(body, draft.path, limit)
        draft.replace()
        return 'took ' + fileBytes
      } catch (error) {
        return 'broke ' + error.code
      }
    }
    console.log(await store(), readdirSync(${JSON.stringify(folder)}).length)`
  // A write above the limit of `ulimit` normally ends the process by the signal SIGXFSZ. With this trap, the write
  // fails, as on a full disk.
  const limited = [
    'bash',
    '-c',
    `trap '' XFSZ; ulimit -f ${roomKb}; exec "$0" -e "$1"`,
    process.execPath,
    script,
  ]
  const child = Bun.spawn(limited, { stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  await child.exited
  return { out: out.trim(), err }
}

test.each([
  ['one chunk', [300_000]],
  ['many chunks', Array<number>(100).fill(1000)],
  ['one byte too many', [roomKb * 1024, 1]],
  ['more than is held in memory', Array<number>(48).fill(65_536)],
])('a body that the disk has no room for is refused and leaves nothing: %s', async (name, chunks) => {
  expect(await receiveInto(name, chunks)).toEqual({ out: 'broke EFBIG 0', err: '' })
})

test('a body that just fits is stored', async () => {
  expect(await receiveInto('fits', [roomKb * 1024])).toEqual({ out: `took ${roomKb * 1024} 1`, err: '' })
})

test('an append whose flush fails closes its file', async () => {
  async function* chunks() {
    yield new Uint8Array(1)
  }
  const descriptors = () => readdirSync('/proc/self/fd').length
  const before = descriptors()
  // The device /dev/full is always full, and cannot be flushed.
  for (let count = 0; count < 10; count++)
    await expect(append(chunks(), '/dev/full', { from: 0, bytesMax: 10 })).rejects.toThrow()
  expect(descriptors()).toBeLessThan(before + 10)
})

// If the garbage collector finds a FileHandle that was not closed, Bun throws an error that nothing catches. This would
// end the server, so each file must be closed.
test('an upload for which there is only one free file descriptor fails and closes its file', async () => {
  const script = `
    const { receive } = await import(${module})
    const { closeSync, openSync, readdirSync } = await import('node:fs')
    const descriptors = () => readdirSync('/proc/self/fd').length
    const before = descriptors()
    const held = []
    try { for (;;) held.push(openSync('/dev/null')) } catch {}
    closeSync(held.pop())
    const path = ${JSON.stringify(join(scratch, 'one-descriptor'))}
    const code = await receive(new Response('sound').body, path, { bytesMax: 10 }).catch(error => error.code)
    for (const file of held) closeSync(file)
    console.log(code, descriptors() - before)`
  const limited = ['sh', '-c', 'ulimit -n 100; exec "$0" -e "$1"', process.execPath, script]
  const child = Bun.spawn(limited, { stdout: 'pipe', stderr: 'inherit' })
  expect([await new Response(child.stdout).text(), await child.exited]).toEqual(['EMFILE 0\n', 0])
})

// Some disks lose the last bytes without an error. The test truncates the file during the upload to simulate such a
// disk.
test('a body whose last bytes are not on the disk at its end is refused as an error of the disk', async () => {
  const path = join(scratch, 'cut')
  async function* body() {
    yield new Uint8Array(100)
    truncateSync(path, 60)
  }
  const error = await receive(body(), path, { bytesMax: 1000 }).catch(error => error)
  expect(diskRefusalOf(error)).toBe('disk error')
  expect(error.message).toBe('the disk took 60 of 100 bytes')
})
