// Recognises two kinds of database errors. The first kind, a refusal, may be temporary: another process holds the write
// lock, or the disk is full or reports an error. The second kind is a damaged database file. SQLite reports most errors
// of a read (EIO) as damage too (see unreadable.ts).

import { SQLiteError } from 'bun:sqlite'

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

/**
 * Calls `work`, and returns its result. Returns null if another process locks the database, or if the disk is full or
 * reports an error.
 */
export function unlessRefused<Result>(work: () => Result): Result | null {
  try {
    return work()
  } catch (error) {
    if (refusalOf(error) === null) throw error
    return null
  }
}

/** Returns true if SQLite found that the database file is damaged, or that it is no database. */
export function isDamage(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code ?? '')
}
