// The database: one SQLite file. Only one process can write at a time. `now` returns the same time during a whole
// transaction.

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
   * SQLite's setting `synchronous`. With `normal`, a power cut may lose the last transactions, but never half
   * a transaction. Code that must not lose a transaction awaits `durable`. With `full`, each commit blocks
   * the process until the disk has written it. In a measurement, `full` made 80 commits a second, and
   * `normal` made 700.
   */
  synchronous?: 'normal' | 'full'
  /** Timeout of a write that waits for another process. The write blocks the whole process while it waits. */
  busyMs?: number
  /** Called before each write. A server that may no longer write ends in this function. */
  onWrite?: () => void
}

export type Db = {
  /**
   * Returns the first database row, or null when there is no row. Statements are prepared once and cached.
   */
  find<Row>(statement: string, params?: Params): Row | null
  list<Row>(statement: string, params?: Params): Row[]
  /** Runs a statement that writes. Returns the number of changed database rows. */
  run(statement: string, params?: Params): number
  /**
   * Runs `work` in a transaction. The transaction takes the write lock at its start. A nested call of `tx`
   * becomes part of the outer transaction.
   */
  tx<T>(work: () => T): T
  /**
   * Returns the time at which the open transaction began. Outside of a transaction, returns the current time.
   */
  now(): number
  /**
   * Returns the time of a monotonic clock. Timeouts use this clock, because changes of the wall clock do not affect
   * it.
   */
  uptime(): number
  /** Writes a value that the database already has. Throws when the database cannot be written. */
  probe(): void
  /**
   * Moves the write-ahead log into the database file and empties the log, so that no deleted text stays on
   * disk. Does nothing while the log is drained.
   */
  checkpoint(): void
  /**
   * Moves the write-ahead log into the database file, and flushes both files without blocking the event loop. A caller
   * that writes much awaits this after every few transactions. Otherwise SQLite moves and flushes 4 MB at once, which
   * blocks the event loop for 20 to 40 ms.
   */
  drainLog(): Promise<void>
  /** Writes a consistent copy of the database to `path`. The file must not exist or must be empty. */
  copyTo(path: string): void
  /** Flushes the commits to the disk. Resolves when all previous commits would survive a power cut. */
  durable(): Promise<void>
  close(): void
}

/** The application id `sten` in the header of the SQLite file. It marks the file as a database of steno. */
const applicationId = 0x7374656e

export function databasePath(dataDir: string): string {
  return join(dataDir, 'steno.db')
}

/**
 * Returns the reason of a temporary database error: `busy` when another process holds the write lock, `full`
 * when the disk is full. Returns null for other errors.
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
      // The checkpoint would wait for the drain, and the drain waits for the event loop.
      if (!drain.isRunning()) sql.query('pragma wal_checkpoint(truncate)').all()
    },
    drainLog: drain.run,
    copyTo: target => void sql.query('vacuum into $target').run({ target }),
    durable: flusher.flush,
    close() {
      flusher.close()
      sql.close()
      // Closing the file earlier would release the locks of SQLite, which belong to the process.
      fileFlusher.close()
    },
  }
}

/**
 * Returns a function that runs a write. After a write that timed out, further writes do not wait for the lock. When a
 * write succeeds, writes wait again. The reason: the server answers no request while a write waits.
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
