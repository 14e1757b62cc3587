// Recognises two kinds of database errors. Errors of the first kind may be temporary: another process holds the write
// lock, the disk is full, or the disk reports an error. The other kind is a damaged database file.

import { type Database, SQLiteError } from 'bun:sqlite'

export type Refusal = 'busy' | 'full' | 'disk error'

/**
 * Returns the reason of a temporary database error: `busy` if another process holds the write lock, `full` if the disk
 * is full, and `disk error` if it reports another error, for example because it is read-only. Returns null for any
 * other error.
 */
export function refusalOf(error: unknown): Refusal | null {
  const code = error instanceof SQLiteError ? (error.code ?? '') : ''
  if (/^SQLITE_BUSY/.test(code)) return 'busy'
  if (/^SQLITE_FULL/.test(code)) return 'full'
  return /^SQLITE_IOERR/.test(code) ? 'disk error' : null
}

/** Returns true if SQLite found that the database file is damaged, or that it is no database. */
export function isDamage(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code ?? '')
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
