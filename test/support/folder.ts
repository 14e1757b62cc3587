// Creates temporary folders for tests.

import { afterAll } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const memoryBytesMin = 4 * 1024 ** 3

/**
 * The folder in which tests make their folders, in memory if possible. On a disk, a test of the service takes a fifth
 * more CPU time, and waits for each flush of the database.
 */
export const scratch = hasRoomInMemory() ? memory : tmpdir()

/** Returns true if /dev/shm has enough space and allows programs to run. Many tests run a program in their folder. */
function hasRoomInMemory(): boolean {
  if (!existsSync(memory)) return false
  const mount = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .findLast(line => line.split(' ')[1] === memory)
  const { bavail, bsize } = statfsSync(memory)
  return mount !== undefined && !/\bnoexec\b/.test(mount) && bavail * bsize >= memoryBytesMin
}

/**
 * Creates a temporary folder. The folder is removed at the end of the calling test, or of the test file if no test is
 * running. Do not call it in a `beforeAll` function: the folder would be removed when the `beforeAll` function ends.
 */
export function temporaryFolder(): string {
  return folderIn(scratch)
}

/**
 * Creates a temporary folder for large files. It is usually on the disk that also has the built program, so a hard link
 * to the program can replace a copy. The other temporary folders are usually in memory.
 */
export function temporaryFolderOnDisk(): string {
  return folderIn(tmpdir())
}

function folderIn(place: string): string {
  const folder = mkdtempSync(join(place, 'steno-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Creates an empty folder in `place` that is kept until this process ends. Its name is `prefix` and the id of the
 * process. Bun ends a test process without an event in which this process could remove the folder. So the next call of
 * this function, in a later process, removes the folders with this prefix whose process has ended. A caller can also
 * use `removeAtEnd`: another program then removes the folder after this process.
 */
export function folderOfProcess(place: string, prefix: string): string {
  for (const name of readdirSync(place)) {
    const pid = name.startsWith(prefix) ? name.slice(prefix.length) : ''
    const isOwn = Number(pid) === process.pid
    if (/^\d+$/.test(pid) && (isOwn || !existsSync(`/proc/${pid}`)))
      rmSync(join(place, name), { recursive: true, force: true })
  }
  const folder = join(place, `${prefix}${process.pid}`)
  mkdirSync(folder, { recursive: true })
  return folder
}

/**
 * Starts a shell that removes a folder when this process ends. The shell waits for the end of its standard input, which
 * is a pipe from this process.
 */
export function removeAtEnd(folder: string): void {
  const script = 'read -r line; rm -rf "$0"'
  Bun.spawn(['sh', '-c', script, folder], { stdio: ['pipe', 'ignore', 'ignore'] }).unref()
}
