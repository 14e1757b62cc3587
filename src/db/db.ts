// The database: one SQLite file. Only one process can write to it at a time. Within a transaction, all calls of `now`
// return the same time.

import { Database, SQLiteError } from 'bun:sqlite'
import { join } from 'node:path'
import { touchPrivate } from '../base/private-file.ts'
import { limits } from '../limits.ts'
import { openDrain } from './drain.ts'
import { openFlusher } from './flush.ts'
import { migrate } from './migrate.ts'

type Value = string | number | null | Uint8Array
export type Params = Record<string, Value>
export type Clock = () => number

export type DbOptions = {
  clock?: Clock
  uptime?: Clock
  /**
   * SQLite's setting `synchronous`. With `normal`, the last transactions may be lost in a power cut, but each
   * transaction is kept or lost as a whole. Code that must not lose a transaction awaits `durable`. With `full`, each
   * commit blocks the process until the disk has written the commit: 80 commits a second in a measurement, instead of
   * 700 with `normal`.
   */
  synchronous?: 'normal' | 'full'
  /**
   * The maximum time for which a write waits for another process, in milliseconds. The whole process is blocked while a
   * write waits.
   */
  busyMs?: number
  /**
   * A function that is called before each write. If this server may no longer write to the database, the function ends
   * the process.
   */
  onWrite?: () => void
}

export type Db = {
  /**
   * Returns the first row that the SQL statement selects. Returns null if it selects no row. Statements are prepared
   * once and then cached.
   */
  find<Row>(statement: string, params?: Params): Row | null
  list<Row>(statement: string, params?: Params): Row[]
  /** Runs an SQL statement that writes. Returns the number of changed rows. */
  run(statement: string, params?: Params): number
  /**
   * Runs `work` in a transaction. The transaction takes the write lock of the database at its start. If `work` calls
   * `tx` again, the inner call is part of the same transaction.
   */
  tx<T>(work: () => T): T
  /** Returns the time at which the open transaction began. Without an open transaction, returns the current time. */
  now(): number
  /**
   * Returns the time of a monotonic clock, in milliseconds. Timeouts use this clock, because it does not jump when the
   * wall clock is changed.
   */
  uptime(): number
  /**
   * Tests that the database can be written: writes the application id, which the database already has. Throws if the
   * write fails.
   */
  probe(): void
  /**
   * Moves the write-ahead log into the database file and empties the log, so that no deleted text remains on the disk.
   * Does nothing while a call of `drainLog` is running.
   */
  checkpoint(): void
  /**
   * Moves the write-ahead log into the database file, and flushes both files without blocking the event loop. A caller
   * that writes much data calls this function after every few transactions, and awaits the result. Without these calls,
   * SQLite would move and flush 4 MB at once, which blocks the event loop for 20 to 40 ms.
   */
  drainLog(): Promise<void>
  /** Writes a consistent copy of the database to `path`. Any file that exists at `path` must be empty. */
  copyTo(path: string): void
  /**
   * Resolves when all transactions that were committed before this call are flushed to the disk. A power cut can then
   * no longer lose these transactions.
   */
  durable(): Promise<void>
  close(): void
}

/**
 * The application id in the header of the SQLite file: the bytes of the text `sten`. It marks the file as a database of
 * steno.
 */
const applicationId = 0x7374656e

export function databasePath(dataDir: string): string {
  return join(dataDir, 'steno.db')
}

/**
 * Returns the reason of a temporary database error: `busy` if another process holds the write lock, and `full` if the
 * disk is full or reports an error. Returns null for any other error.
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
    onWrite = () => {},
  }: DbOptions = {},
): Db {
  const sql = new Database(touchPrivate(databasePath(dataDir)), { strict: true })
  sql.run(`pragma busy_timeout = ${limits.databaseBusyMs}`)
  sql.run('pragma journal_mode = wal')
  sql.run(`pragma synchronous = ${synchronous}`)
  sql.run('pragma foreign_keys = on')
  sql.run('pragma secure_delete = on')

  const flusher = openFlusher(`${databasePath(dataDir)}-wal`)
  const fileFlusher = openFlusher(databasePath(dataDir))
  const drain = openDrain(sql, databasePath(dataDir), { log: flusher, file: fileFlusher })
  let txTime: number | null = null
  const now = () => txTime ?? clock()
  const attempted = waitOnce(sql, busyMs)
  function tx<T>(work: () => T): T {
    return txTime === null ? attempted(() => txAlone(work)) : work()
  }
  function txAlone<T>(work: () => T): T {
    onWrite()
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
  txAlone(() => migrate(sql, now()))
  sql.run(`pragma busy_timeout = ${busyMs}`)

  return {
    find: <Row>(statement: string, params: Params = {}) => sql.query<Row, [Params]>(statement).get(params),
    list: <Row>(statement: string, params: Params = {}) => sql.query<Row, [Params]>(statement).all(params),
    run: (statement, params = {}) =>
      attempted(() => {
        onWrite()
        flusher.written()
        return sql.query<unknown, [Params]>(statement).run(params).changes
      }),
    tx,
    now,
    uptime: () => Math.round(uptime()),
    probe: () => tx(() => void sql.run(`pragma application_id = ${applicationId}`)),
    checkpoint() {
      // No checkpoint is made while a drain is running. The checkpoint would wait for the end of the drain, and would
      // block the event loop while it waits. But the drain can only end if the event loop is not blocked.
      if (!drain.isRunning()) sql.query('pragma wal_checkpoint(truncate)').all()
    },
    drainLog: drain.run,
    copyTo: target => void sql.query('vacuum into $target').run({ target }),
    durable: flusher.flush,
    close() {
      flusher.close()
      sql.close()
      // The flusher of the database file is closed after the connection: closing this file releases all SQLite locks of
      // this process on the database.
      fileFlusher.close()
    },
  }
}

/**
 * Returns a function that runs a write to the database. A write waits up to `busyMs` for the write lock. After a write
 * that timed out, the next writes do not wait, and fail at once if the database is locked. After a write that
 * succeeded, writes wait again. The reason: the server answers no request while a write waits, so not every write may
 * wait.
 */
function waitOnce(sql: Database, busyMs: number): <T>(write: () => T) => T {
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
