// Creates temporary folders for tests.

import { afterAll } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const memoryBytesMin = 4 * 1024 ** 3

/**
 * The folder in which tests make their folders. It is in memory if the memory has enough space and programs may be run
 * there: on a disk, a test of the service takes a fifth more CPU time, and waits for each flush of the database.
 */
export const scratch = hasRoomInMemory() ? memory : tmpdir()

/** Returns false also if no program may be run from the folder: many tests write a program and run it. */
function hasRoomInMemory(): boolean {
  if (!existsSync(memory)) return false
  const mount = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .findLast(line => line.split(' ')[1] === memory)
  const { bavail, bsize } = statfsSync(memory)
  return mount !== undefined && !/\bnoexec\b/.test(mount) && bavail * bsize >= memoryBytesMin
}

/**
 * Creates a temporary folder. The folder is removed at the end of the calling test, or, if no test is running, at the
 * end of the test file. If beforeAll calls this function, the folder is removed when beforeAll ends.
 */
export function temporaryFolder(): string {
  return folderIn(scratch)
}

/**
 * Like `temporaryFolder`, but in the temporary folder of the system, which is usually on a disk: for large files, and
 * for a copy of the built program, which may be a hard link there.
 */
export function temporaryFolderOnDisk(): string {
  return folderIn(tmpdir())
}

function folderIn(place: string): string {
  const folder = mkdtempSync(join(place, 'steno-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
