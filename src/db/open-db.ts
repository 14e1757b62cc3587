// Opens the database, and applies the migrations that it lacks.

import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { diskSpace } from '../base/disk-space.ts'
import { errorFields, log } from '../base/log.ts'
import { touchPrivate } from '../base/private-file.ts'
import { reasonOf } from '../base/reason.ts'
import { formatSize } from '../base/units.ts'
import { limits } from '../limits.ts'
import { type Clock, type Db, databasePath, type Params } from './db.ts'
import { openDrain } from './drain.ts'
import { openFlusher } from './flush.ts'
import { isOfOlderProgram, migrate } from './migrate.ts'
import { isDamage, refusalOf } from './refusal.ts'
import { openTransactions, waitOnce } from './transactions.ts'
import { whyUnreadable } from './unreadable.ts'

export type DbOptions = {
  clock?: Clock
  uptime?: Clock
  /**
   * SQLite's setting `synchronous`. With `normal`, a power cut may delete the last transactions, but each transaction
   * is kept or lost as a whole. With `full`, each commit blocks the process until the disk has written the commit. In a
   * measurement, `full` reached 80 commits a second, and `normal` 700.
   */
  synchronous?: 'normal' | 'full'
  /**
   * The maximum time, in milliseconds, for which a write waits for another process. A waiting write blocks this whole
   * process.
   */
  busyMs?: number
  /** Called before each write. Ends the process if this server may no longer write to the database. */
  onWrite?: () => void
  /** Called before migrations are applied to a database of an older program. May throw. */
  beforeMigrations?: () => void
}

/** The bytes of the text `sten`. In the header of an SQLite file, this id marks a database of steno. */
const applicationId = 0x7374656e

/**
 * The maximum number of prepared statements that are kept for each open database. Bun's default is 20, and the program
 * has about 250 statements. SQLite takes longer to prepare most of them than to run them.
 */
Database.MAX_QUERY_CACHE_SIZE = 500

/**
 * Opens the database. If the database is damaged, the error says how to restore a backup. If the disk is full or
 * refuses a write, the error says how much space is free and how much is needed. If another process holds the write
 * lock, the error says so.
 */
export function openDb(dataDir: string, options: DbOptions = {}): Db {
  let isUpdated = false
  const beforeMigrations = () => {
    options.beforeMigrations?.()
    isUpdated = true
  }
  try {
    return open(dataDir, { ...options, beforeMigrations })
  } catch (error) {
    const fault = faultIn(dataDir, error)
    if (fault !== error) throw fault
    const refusal = refusalOf(error)
    if (refusal === null) throw error
    if (refusal === 'busy') throw refusedIn(dataDir, error)
    const needed = isUpdated
      ? `bringing the database up to date may need several times its size, ${formatSize(statSync(databasePath(dataDir)).size)}`
      : `the database needs at least ${formatSize(limits.newDatabaseBytes)}`
    throw new Error(
      `${databasePath(dataDir)} cannot be opened: ${reasonOf(error)}; the disk of ${dataDir} has ${formatSize(diskSpace(dataDir).free)} free, and ${needed}`,
      { cause: error },
    )
  }
}

/**
 * If `error` says that the database or its disk cannot be read, returns an error that says what to do. Otherwise
 * returns `error`. The caller must no longer use its connection to the database: this function opens, reads and closes
 * the file. When a process closes a file, the operating system removes all its locks on this file, also those of
 * SQLite.
 */
export function faultIn(dataDir: string, error: unknown): unknown {
  if (!isDamage(error) && refusalOf(error) !== 'disk error') return error
  const path = databasePath(dataDir)
  const unreadable = whyUnreadable(path)
  if (unreadable === null && !isDamage(error)) return error
  const message =
    unreadable === null
      ? `${path} is damaged: ${reasonOf(error)}; to restore a backup, move steno.db, each steno.db-* and secret.key out of ${dataDir}, then run steno restore`
      : `${unreadable}; the disk has the fault, and the database may be sound: see the log of the kernel (dmesg) before you restore a backup`
  return new Error(message, { cause: error })
}

/**
 * If `error` says that the database refuses a command because of a lock, a full disk or an error of the disk, returns
 * an error that says what to do. Otherwise returns `error`.
 */
export function refusedIn(dataDir: string, error: unknown): unknown {
  const refusal = refusalOf(error)
  if (refusal === null) return error
  const path = databasePath(dataDir)
  const reasons = {
    busy: `${path} is locked by another process: try again, and end a program that keeps it open, such as sqlite3`,
    full: `${path} cannot be written: the disk of ${dataDir} is full; free some space`,
    'disk error': `${path} cannot be used: ${reasonOf(error)}; check the disk of ${dataDir}`,
  }
  return new Error(reasons[refusal], { cause: error })
}

function open(
  dataDir: string,
  {
    clock = Date.now,
    uptime = () => performance.now(),
    synchronous = 'normal',
    busyMs = limits.databaseBusyMs,
    onWrite = () => {},
    beforeMigrations = () => {},
  }: DbOptions,
): Db {
  const path = databasePath(dataDir)
  const sql = connect(path, synchronous)
  const onFailed = (error: unknown) => {
    log.error('write-ahead log not flushed, restart the server', errorFields(error))
    drain.keepLog()
  }
  const flusher = openFlusher(`${path}-wal`, { onFailed })
  const fileFlusher = openFlusher(path)
  const drain = openDrain(sql, path, { wal: flusher, file: fileFlusher })
  const write = waitOnce(sql, busyMs)
  const { tx, now } = openTransactions(sql, { clock, write, onBegin: onWrite, onCommit: flusher.written })
  function close() {
    flusher.close()
    sql.close()
    // `fileFlusher` must be closed last. When a process closes a file, the operating system releases all locks of the
    // process on this file, even the locks of SQLite.
    fileFlusher.close()
  }
  try {
    tx(() => {
      if (isOfOlderProgram(sql)) beforeMigrations()
      migrate(sql, now())
    })
  } catch (error) {
    // The migrations may have filled the disk with the write-ahead log. `close` closes the last connection, so SQLite
    // removes this log, and the disk has room again.
    close()
    throw error
  }
  sql.run(`pragma busy_timeout = ${busyMs}`)

  return {
    find: <Row>(statement: string, params: Params = {}) => sql.query<Row, [Params]>(statement).get(params),
    list: <Row>(statement: string, params: Params = {}) => sql.query<Row, [Params]>(statement).all(params),
    run: (statement, params = {}) =>
      write(() => {
        onWrite()
        flusher.written()
        return sql.query<unknown, [Params]>(statement).run(params).changes
      }),
    tx,
    now,
    uptime: () => Math.round(uptime()),
    probe: () => tx(() => void sql.run(`pragma application_id = ${applicationId}`)),
    checkpoint(waitMs = 0) {
      if (!drain.needsLog()) emptyLog(sql, waitMs)
    },
    drainLog: drain.run,
    durable: flusher.flush,
    close,
  }
}

/** Connects to the database at `path`, and sets the options of the connection, such as the write-ahead log. */
function connect(path: string, synchronous: 'normal' | 'full'): Database {
  const sql = openFile(path)
  sql.run(`pragma busy_timeout = ${limits.databaseBusyMs}`)
  sql.run('pragma journal_mode = wal')
  sql.run(`pragma synchronous = ${synchronous}`)
  sql.run('pragma foreign_keys = on')
  sql.run('pragma secure_delete = on')
  return sql
}

/**
 * Moves the write-ahead log into the database file, and empties the log. Waits up to `waitMs` for other processes that
 * read the database.
 */
function emptyLog(sql: Database, waitMs: number): void {
  const before = sql.query<{ timeout: number }, []>('pragma busy_timeout').get()
  sql.run(`pragma busy_timeout = ${waitMs}`)
  try {
    sql.query('pragma wal_checkpoint(truncate)').all()
  } finally {
    sql.run(`pragma busy_timeout = ${before?.timeout ?? limits.databaseBusyMs}`)
  }
}

function openFile(path: string): Database {
  touchPrivate(path)
  try {
    return new Database(path, { strict: true })
  } catch (error) {
    if (refusalOf(error)) throw error
    throw new Error(`${path} cannot be opened: ${reasonOf(error)}; it must belong to the user of the service`)
  }
}
