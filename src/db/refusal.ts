// Recognises two kinds of database errors. The first kind, a refusal, may be temporary: another process holds the write
// lock, or the disk is full or reports an error. The second kind is a damaged database file. SQLite reports most errors
// of a read (EIO) as damage too.

import { type Database, SQLiteError } from 'bun:sqlite'

export type Refusal = 'busy' | 'full' | 'disk error'

/**
 * Returns the reason of an error that may be temporary. `busy`: another process holds the write lock. `full`: the disk
 * is full. `disk error`: the disk reports another error. Returns null for any other error.
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
 * Returns a function that runs a write to the database. A write waits up to `busyMs` for the write lock. After a
 * timeout, the next writes do not wait, until a write succeeds. The server answers no request while a write waits, so a
 * lock that stays held must not delay every write.
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
