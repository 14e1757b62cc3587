// Moves the write-ahead log into the database file without waiting for the disk on the event loop. SQLite would flush
// both files on the event loop, which takes 4 to 20 ms.
//
// SQLite overwrites no part of the log that a reader needs, and moves nothing that is newer than the reader. A reader
// therefore stays open until the database file is on the disk. After a power cut before that, the log is complete.

import { Database } from 'bun:sqlite'
import type { Flusher } from './flush.ts'

export type Drain = {
  /** Resolves when the log that existed at the call is in the database file and on the disk, or when this failed. */
  run(): Promise<void>
  /** True while a part of the moved log may not be on the disk. */
  isRunning(): boolean
}

/** `log` and `file` flush the write-ahead log and the database file of the connection `sql`. */
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
        // The transactions are complete in the log. It grows until the server restarts if the file was not flushed.
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

/** Opens a connection that reads the database as it is at this moment. */
function openReader(path: string): Database {
  const reader = new Database(path, { readonly: true })
  reader.run('begin')
  reader.query('pragma user_version').get()
  return reader
}

/** Moves the log without a flush. */
function moveLog(sql: Database): void {
  const before = sql.query<{ synchronous: number }, []>('pragma synchronous').get()
  sql.run('pragma synchronous = off')
  try {
    sql.query('pragma wal_checkpoint(passive)').all()
  } finally {
    sql.run(`pragma synchronous = ${before?.synchronous ?? 'full'}`)
  }
}
