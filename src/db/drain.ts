// A drain: copies the changes in the write-ahead log into the database file, and waits for the disk outside the event
// loop. SQLite itself would flush the log and the database file on the event loop, which takes 4 to 20 ms.
//
// A drain first opens a reader: a connection with a read transaction. As long as the reader is open, SQLite copies only
// changes that were in the log when the transaction began, and does not overwrite these changes in the log. The drain
// closes the reader after the database file is flushed. So if a power cut occurs before this flush, the log still has
// all copied changes.

import { Database } from 'bun:sqlite'
import { errorFields, log } from '../base/log.ts'
import type { Flusher } from './flush.ts'

export type Drain = {
  /**
   * Copies the changes that are in the write-ahead log at the time of this call into the database file. Resolves when
   * the database file with these changes is flushed to the disk. Also resolves if a step fails: the changes then stay
   * in the log. After a failed flush of the database file, does nothing.
   */
  run(): Promise<void>
  /**
   * Returns true while the database file may have content that is not flushed to the disk yet: during a drain, and
   * after a failed flush of the database file.
   */
  isRunning(): boolean
}

/**
 * Creates a drain, which copies the write-ahead log into the database file. `path` is the path of the database, and
 * `sql` is an open connection to it. `wal` flushes the write-ahead log, and `file` flushes the database file.
 */
export function openDrain(
  sql: Database,
  path: string,
  { wal, file }: { wal: Flusher; file: Flusher },
): Drain {
  const readers = new Set<Database>()
  let flushFailed = false

  /** Flushes the database file. If that fails, the open readers of the drains must stay open. */
  async function flushFile(): Promise<void> {
    file.written()
    try {
      await file.flush()
    } catch (error) {
      if (!flushFailed) log.error('database not flushed, restart the server', errorFields(error))
      flushFailed = true
    }
  }

  return {
    async run() {
      const reader = flushFailed ? null : openReader(path)
      if (!reader) return
      readers.add(reader)
      try {
        await wal.flush()
        moveLog(sql)
        await flushFile()
      } catch (error) {
        // If copying fails, SQLite counts no change as copied, and so keeps all changes in the log without this reader.
        log.warn('write-ahead log not moved', errorFields(error))
      }
      // After a failed flush, the operating system may have discarded the content of the database file, and a second
      // flush would then succeed without writing it. SQLite counts the changes as copied, and does not copy them again
      // until the server restarts. So the reader stays open, and the log grows until then.
      if (flushFailed) return
      readers.delete(reader)
      reader.close()
    },
    isRunning: () => readers.size > 0,
  }
}

/**
 * Opens a connection with a read transaction. The transaction can read what is in the write-ahead log now. As long as
 * the connection is open, SQLite keeps this content in the log. Returns null if the connection cannot be opened, for
 * example because the process has no free file descriptor.
 */
function openReader(path: string): Database | null {
  let reader: Database | null = null
  try {
    reader = new Database(path, { readonly: true })
    reader.run('begin')
    reader.query('pragma user_version').get()
    return reader
  } catch {
    reader?.close()
    return null
  }
}

/** Copies the content of the write-ahead log into the database file, without flushing the database file to the disk. */
function moveLog(sql: Database): void {
  const before = sql.query<{ synchronous: number }, []>('pragma synchronous').get()
  sql.run('pragma synchronous = off')
  try {
    sql.query('pragma wal_checkpoint(passive)').all()
  } finally {
    sql.run(`pragma synchronous = ${before?.synchronous ?? 'full'}`)
  }
}
