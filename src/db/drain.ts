// Moves the write-ahead log into the database file, and waits for the disk outside the event loop. SQLite itself
// would flush both files on the event loop, which takes 4 to 20 ms.
//
// SQLite overwrites no part of the log that a reader may need, and moves nothing that is newer than the start of the
// reader. So a reader stays open until the database file is flushed. After a power cut before that, the log is still
// complete.

import { Database } from 'bun:sqlite'
import type { Flusher } from './flush.ts'

export type Drain = {
  /**
   * Moves the log that exists at the call. Resolves when its content is flushed to the disk in the database file, or
   * when this failed.
   */
  run(): Promise<void>
  /** True while moved content may not be flushed to the disk. */
  isRunning(): boolean
}

/**
 * `log` flushes the write-ahead log, and `file` flushes the database file. Both files belong to the connection `sql`.
 */
export function openDrain(
  sql: Database,
  path: string,
  { log, file }: { log: Flusher; file: Flusher },
): Drain {
  const readers = new Set<Database>()
  return {
    async run() {
      const reader = openReader(path)
      readers.add(reader)
      let isSafe = true
      try {
        await log.flush()
        isSafe = false
        moveLog(sql)
        file.written()
        await file.flush()
        isSafe = true
      } catch {
        // If the flush failed, the reader stays open. The log then keeps all transactions, and grows until the server
        // restarts.
      } finally {
        if (isSafe) {
          readers.delete(reader)
          reader.close()
        }
      }
    },
    isRunning: () => readers.size > 0,
  }
}

/** Opens a connection that keeps reading the present state of the database. */
function openReader(path: string): Database {
  const reader = new Database(path, { readonly: true })
  reader.run('begin')
  reader.query('pragma user_version').get()
  return reader
}

/** Moves the content of the log into the database file, without a flush. */
function moveLog(sql: Database): void {
  const before = sql.query<{ synchronous: number }, []>('pragma synchronous').get()
  sql.run('pragma synchronous = off')
  try {
    sql.query('pragma wal_checkpoint(passive)').all()
  } finally {
    sql.run(`pragma synchronous = ${before?.synchronous ?? 'full'}`)
  }
}
