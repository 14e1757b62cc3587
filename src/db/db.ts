// One SQLite file, one writer at a time, one clock reading a transaction.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { touchPrivate } from '../base/private-file.ts'
import { limits } from '../limits.ts'
import { migrate } from './migrate.ts'

type Value = string | number | null | Uint8Array
export type Params = Record<string, Value>
export type Clock = () => number

export type Db = {
  /** The first row, or null. Statements are prepared once and kept. */
  find<Row>(statement: string, params?: Params): Row | null
  list<Row>(statement: string, params?: Params): Row[]
  /** Gives how many rows were changed. One statement alone is a transaction too. */
  run(statement: string, params?: Params): number
  /** All of it or nothing; within another one it becomes part of that. Takes the write lock at once. */
  tx<T>(work: () => T): T
  /** The time of the transaction under way, else the clock's. */
  now(): number
  /** Writes something that changes nothing: throws where the disk takes no more. */
  probe(): void
  /** Writes what the log holds into the file and empties the log, so that deleted text is nowhere on disk. */
  checkpoint(): void
  /** A consistent copy into a file that is new or empty. */
  copyTo(path: string): void
  close(): void
}

/** `sten`, in the head of the file: whose database it is. */
const applicationId = 0x7374656e

export function databasePath(dataDir: string): string {
  return join(dataDir, 'steno.db')
}

export function openDb(dataDir: string, clock: Clock = Date.now): Db {
  const sql = new Database(touchPrivate(databasePath(dataDir)), { strict: true })
  sql.run(`pragma busy_timeout = ${limits.databaseBusyMs}`)
  sql.run('pragma journal_mode = wal')
  // A killed process loses nothing; a power cut may lose the last moments, and never half of anything. Waiting for the
  // disk at each commit held up every other request with it.
  sql.run('pragma synchronous = normal')
  sql.run('pragma foreign_keys = on')
  sql.run('pragma secure_delete = on')

  let txTime: number | null = null
  const now = () => txTime ?? clock()

  function tx<T>(work: () => T): T {
    if (txTime !== null) return work()
    sql.run('begin immediate')
    txTime = clock()
    try {
      const result = work()
      sql.run('commit')
      return result
    } catch (error) {
      if (sql.inTransaction) sql.run('rollback')
      throw error
    } finally {
      txTime = null
    }
  }
  tx(() => migrate(sql, now()))

  return {
    find: <Row>(statement: string, params: Params = {}) => sql.query<Row, [Params]>(statement).get(params),
    list: <Row>(statement: string, params: Params = {}) => sql.query<Row, [Params]>(statement).all(params),
    run: (statement, params = {}) => sql.query<unknown, [Params]>(statement).run(params).changes,
    tx,
    now,
    probe: () => tx(() => void sql.run(`pragma application_id = ${applicationId}`)),
    checkpoint: () => void sql.query('pragma wal_checkpoint(truncate)').all(),
    copyTo: target => void sql.query('vacuum into $target').run({ target }),
    close: () => sql.close(),
  }
}
