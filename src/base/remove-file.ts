// Removes files that may be large, such as media. The operating system needs about 5 ms to free the space of 30 MB, and
// a second for 5 GB. It frees the space only when no process has the file open. This module therefore opens a file,
// removes it, and then closes it outside the event loop.

import { close, constants, openSync, rmSync } from 'node:fs'
import { errorFields, log } from './log.ts'

/** The files that could not be removed. The error of each of them is logged once. */
const stuck = new Set<string>()

/**
 * Removes a file, if it exists. Returns false if the file cannot be removed, for example because the disk is damaged.
 * The caller can try again later.
 */
export function tryRemove(path: string): boolean {
  try {
    removeFile(path)
    stuck.delete(path)
    return true
  } catch (error) {
    if (!stuck.has(path)) log.error('file not removed', { file: path, ...errorFields(error) })
    stuck.add(path)
    return false
  }
}

/**
 * Removes a file, if it exists. Also removes a folder if `recursive` is true. Must not be called for a file that SQLite
 * has open: closing it would release the locks of SQLite.
 */
export function removeFile(path: string, { recursive = false } = {}): void {
  const file = tryOpen(path)
  try {
    rmSync(path, { recursive, force: true })
  } finally {
    if (file !== null) close(file, () => {})
  }
}

/** Opens a file. Returns null if that fails. Does not follow a symbolic link, and does not wait for a pipe. */
function tryOpen(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return null
  }
}
