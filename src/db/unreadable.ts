// Finds read errors of the disk (EIO). SQLite reports most of these errors as damage of the database file. Without this
// check, an operator would restore a backup although the database is not damaged.

import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { diskRefusalOf } from '../base/disk-refusal.ts'
import { reasonOf } from '../base/reason.ts'
import { MB } from '../limits/units.ts'

/**
 * Reads the whole database at `path`, and its write-ahead log. Returns the error of the disk if a read fails with one,
 * and otherwise null. The caller must no longer use an open connection to this database. When this function closes a
 * file, the operating system removes all locks of this process on the file, also those of SQLite.
 */
export function whyUnreadable(path: string): string | null {
  const files = [path, `${path}-wal`].filter(file => statSync(file, { throwIfNoEntry: false })?.isFile())
  for (const file of files) {
    try {
      readWhole(file)
    } catch (error) {
      if (diskRefusalOf(error)) return `${file} cannot be read: ${reasonOf(error)}`
    }
  }
  return null
}

function readWhole(path: string): void {
  const chunk = new Uint8Array(MB)
  const file = openSync(path, 'r')
  try {
    for (let at = 0, count = 1; count > 0; at += count) count = readSync(file, chunk, 0, chunk.length, at)
  } finally {
    closeSync(file)
  }
}
