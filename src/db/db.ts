// The database: one SQLite file. Only one process can write to the database at a time. Within a transaction, all calls
// of `now` return the same time.

import { join } from 'node:path'

type Value = string | number | null | Uint8Array
export type Params = Record<string, Value>
export type Clock = () => number

export type Db = {
  /**
   * Returns the first row that the SQL statement selects, or null if the statement selects no row. Prepared statements
   * are cached. A statement that writes, such as `update … returning`, must run inside `tx`.
   */
  find<Row>(statement: string, params?: Params): Row | null
  list<Row>(statement: string, params?: Params): Row[]
  /** Runs an SQL statement that writes. Returns the number of changed rows. */
  run(statement: string, params?: Params): number
  /**
   * Runs `work` in a transaction, which takes the write lock of the database at its start. A call of `tx` inside `work`
   * joins the open transaction.
   */
  tx<T>(work: () => T): T
  /** Returns the time at which the open transaction began. Without an open transaction, returns the current time. */
  now(): number
  /**
   * Returns the time of a monotonic clock, in milliseconds. Timeouts use this clock, because the wall clock can jump.
   */
  uptime(): number
  /**
   * Writes the application id into the header of the database, to test that the database can be written. Throws if the
   * write fails.
   */
  probe(): void
  /**
   * Moves the write-ahead log into the database file and empties the log, so that no deleted text remains on the disk.
   * The log cannot be emptied while another process reads the database. `waitMs` is the maximum time, in milliseconds,
   * to wait for the other process. By default, the call does not wait. Does nothing during `drainLog`, or after a
   * failed flush of the log or the database file.
   */
  checkpoint(waitMs?: number): void
  /**
   * Moves the write-ahead log into the database file, and flushes both files without blocking the event loop. A caller
   * that writes much data awaits this function after every few transactions. Otherwise SQLite moves and flushes 4 MB at
   * once, which blocks the event loop for 20 to 40 ms.
   */
  drainLog(): Promise<void>
  /**
   * Resolves when all transactions committed before this call are flushed to the disk. A power cut can then no longer
   * delete them. After a failed flush, always rejects: a part of the log may be missing on the disk, and SQLite would
   * ignore all later transactions in this log.
   */
  durable(): Promise<void>
  close(): void
}

export function databasePath(dataDir: string): string {
  return join(dataDir, 'steno.db')
}

/**
 * Returns the path of the database, and the paths of the files that SQLite may keep beside it. These files must be
 * moved together: SQLite applies the log or journal of a path to any database at this path.
 */
export function databaseFiles(dataDir: string): string[] {
  return ['', '-wal', '-shm', '-journal'].map(suffix => databasePath(dataDir) + suffix)
}
