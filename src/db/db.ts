// The database: one SQLite file. Only one process can write to the database at a time. Within a transaction, all calls
// of `now` return the same time.

import { join } from 'node:path'

type Value = string | number | null | Uint8Array
export type Params = Record<string, Value>
export type Clock = () => number

export type Db = {
  /**
   * Returns the first row that the SQL statement selects. Returns null if the statement selects no row. Statements are
   * prepared once and then cached. A statement that writes, such as `update … returning`, must run inside `tx`.
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
   * Tests that the database can be written: writes the application id into the header of the database. The first call
   * sets this id, and later calls do not change the content. Throws if the write fails.
   */
  probe(): void
  /**
   * Moves the write-ahead log into the database file and empties the log, so that no deleted text remains on the disk.
   * Does nothing while a call of `drainLog` is running, or after a failed flush of the database file. While another
   * process reads the database, for example for a backup, the log cannot be emptied. `waitMs` is the maximum time, in
   * milliseconds, for which this call waits for the other process. Without `waitMs`, it does not wait, and the log
   * stays until the next call.
   */
  checkpoint(waitMs?: number): void
  /**
   * Moves the write-ahead log into the database file, and flushes both files without blocking the event loop. A caller
   * that writes much data calls this function after every few transactions, and awaits the result. Without these calls,
   * SQLite would move and flush 4 MB at once, which blocks the event loop for 20 to 40 ms.
   */
  drainLog(): Promise<void>
  /**
   * Resolves when all transactions that were committed before this call are flushed to the disk. A power cut can then
   * no longer lose these transactions.
   */
  durable(): Promise<void>
  close(): void
}

export function databasePath(dataDir: string): string {
  return join(dataDir, 'steno.db')
}

/**
 * Returns the path of the database, and the paths of the files that SQLite may keep beside it. SQLite applies a log or
 * a journal to any database that it finds at the path, so these files are moved only together.
 */
export function databaseFiles(dataDir: string): string[] {
  return ['', '-wal', '-shm', '-journal'].map(suffix => databasePath(dataDir) + suffix)
}
