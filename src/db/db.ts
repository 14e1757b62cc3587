// The database: one SQLite file, with one writer at a time. All statements of a transaction see the same time.

import { Database, SQLiteError } from 'bun:sqlite'
import { join } from 'node:path'
import { touchPrivate } from '../base/private-file.ts'
import { limits } from '../limits.ts'
import { openFlusher } from './flush.ts'
import { migrate } from './migrate.ts'

type Value = string | number | null | Uint8Array
export type Params = Record<string, Value>
export type Clock = () => number

export type DbOptions = {
  clock?: Clock
  uptime?: Clock
  /**
   * With `normal` a power cut may lose the last transactions, but never a part of one. A result that must not be lost
   * waits for durable(). With `full` each commit waits for the disk and blocks all other requests: 80 commits a second
   * instead of 700.
   */
  synchronous?: 'normal' | 'full'
  /** Timeout of a write that waits for another process. The whole process is blocked while it waits. */
  busyMs?: number
}

export type Db = {
  /** Returns the first row, or null. A statement is prepared once and cached. */
  find<Row>(statement: string, params?: Params): Row | null
  list<Row>(statement: string, params?: Params): Row[]
  /** Returns the number of changed rows. A single statement is a transaction too. */
  run(statement: string, params?: Params): number
  /**
   * Runs a transaction, which takes the write lock at its start. A nested transaction becomes part of the outer one.
   */
  tx<T>(work: () => T): T
  /** Returns the time of the open transaction. Outside of a transaction, reads the clock. */
  now(): number
  /** The monotonic clock of timeouts. Unlike the wall clock, it is never set. */
  uptime(): number
  /** Tests that the database can be written: writes a value that is already there. Throws when the disk is full. */
  probe(): void
  /** Moves the write-ahead log into the file, so that deleted text remains nowhere on disk. */
  checkpoint(): void
  /** Writes a consistent copy of the database. The target must be new or empty. */
  copyTo(path: string): void
  /** Resolves when all previous commits would survive a power cut. */
  durable(): Promise<void>
  close(): void
}

/** The application id in the file header, `sten`: marks the file as a steno database. */
const applicationId = 0x7374656e

export function databasePath(dataDir: string): string {
  return join(dataDir, 'steno.db')
}

/**
 * Returns the reason of a write error that is temporary: another process holds the write lock, or the disk is full.
 * Returns null for any other error.
 */
export function refusalOf(error: unknown): 'busy' | 'full' | null {
  const code = error instanceof SQLiteError ? (error.code ?? '') : ''
  if (/^SQLITE_BUSY/.test(code)) return 'busy'
  return /^SQLITE_(FULL|IOERR)/.test(code) ? 'full' : null
}

export function openDb(
  dataDir: string,
  {
    clock = Date.now,
    uptime = () => performance.now(),
    synchronous = 'normal',
    busyMs = limits.databaseBusyMs,
  }: DbOptions = {},
): Db {
  const sql = new Database(touchPrivate(databasePath(dataDir)), { strict: true })
  sql.run(`pragma busy_timeout = ${limits.databaseBusyMs}`)
  sql.run('pragma journal_mode = wal')
  sql.run(`pragma synchronous = ${synchronous}`)
  sql.run('pragma foreign_keys = on')
  sql.run('pragma secure_delete = on')

  const flusher = openFlusher(`${databasePath(dataDir)}-wal`)
  let txTime: number | null = null
  const now = () => txTime ?? clock()

  // After a write that timed out, the next writes do not wait, until one succeeds: the server answers no request while
  // it waits.
  let waits = true
  function setWaits(wanted: boolean): void {
    waits = wanted
    sql.run(`pragma busy_timeout = ${waits ? busyMs : 0}`)
  }
  function attempted<T>(write: () => T): T {
    try {
      const result = write()
      if (!waits) setWaits(true)
      return result
    } catch (error) {
      if (waits && refusalOf(error) === 'busy') setWaits(false)
      throw error
    }
  }

  function tx<T>(work: () => T): T {
    return txTime === null ? attempted(() => txAlone(work)) : work()
  }
  function txAlone<T>(work: () => T): T {
    sql.run('begin immediate')
    txTime = clock()
    try {
      const result = work()
      sql.run('commit')
      flusher.written()
      return result
    } catch (error) {
      if (sql.inTransaction) sql.run('rollback')
      throw error
    } finally {
      txTime = null
    }
  }
  tx(() => migrate(sql, now()))
  setWaits(true)

  return {
    find: <Row>(statement: string, params: Params = {}) => sql.query<Row, [Params]>(statement).get(params),
    list: <Row>(statement: string, params: Params = {}) => sql.query<Row, [Params]>(statement).all(params),
    run: (statement, params = {}) =>
      attempted(() => {
        flusher.written()
        return sql.query<unknown, [Params]>(statement).run(params).changes
      }),
    tx,
    now,
    uptime: () => Math.round(uptime()),
    probe: () => tx(() => void sql.run(`pragma application_id = ${applicationId}`)),
    checkpoint: () => void sql.query('pragma wal_checkpoint(truncate)').all(),
    copyTo: target => void sql.query('vacuum into $target').run({ target }),
    durable: flusher.flush,
    close() {
      flusher.close()
      sql.close()
    },
  }
}
