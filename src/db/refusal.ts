// Recognises writes that the database refuses for some time, because another process holds the write lock or the disk
// is full.

import { type Database, SQLiteError } from 'bun:sqlite'

/**
 * Returns the reason of a temporary database error: `busy` if another process holds the write lock, and `full` if the
 * disk is full or reports an error. Returns null for any other error.
 */
export function refusalOf(error: unknown): 'busy' | 'full' | null {
  const code = error instanceof SQLiteError ? (error.code ?? '') : ''
  if (/^SQLITE_BUSY/.test(code)) return 'busy'
  return /^SQLITE_(FULL|IOERR)/.test(code) ? 'full' : null
}

/**
 * Returns a function that runs a write to the database. A write waits up to `busyMs` for the write lock. After a write
 * that timed out, the next writes fail at once if the database is locked. After a write that succeeded, writes wait
 * again. The reason: the server answers no request while a write waits, so only the first write waits for a lock that
 * stays held.
 */
export function waitOnce(sql: Database, busyMs: number): <T>(write: () => T) => T {
  let waits = true
  const setWaits = (wanted: boolean) => {
    waits = wanted
    sql.run(`pragma busy_timeout = ${waits ? busyMs : 0}`)
  }
  return write => {
    try {
      const result = write()
      if (!waits) setWaits(true)
      return result
    } catch (error) {
      if (waits && refusalOf(error) === 'busy') setWaits(false)
      throw error
    }
  }
}
