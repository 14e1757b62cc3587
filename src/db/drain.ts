// A drain copies the write-ahead log into the database file, and flushes both files outside the event loop. A flush by
// SQLite itself would block the event loop for 4 to 20 ms.
//
// Until the database file is flushed, a second connection holds a read transaction, so that SQLite does not overwrite
// the copied changes in the log. A power cut before the flush therefore loses no change.

import { Database } from 'bun:sqlite'
import { errorFields, log } from '../base/log.ts'
import type { Flusher } from './flush.ts'

export type Drain = {
  /**
   * Copies the changes that are now in the write-ahead log into the database file. Resolves when the database file is
   * flushed to the disk. Also resolves if a step fails: the changes then stay in the log. Does nothing after a failed
   * flush of the database file.
   */
  run(): Promise<void>
  /**
   * Must be called after a failed flush of the log. The disk may then lack a part of the log, so nothing of the log may
   * be copied into the database file any more. The log keeps its content until the process ends. At the next start,
   * SQLite checks the log, and uses only what is intact.
   */
  keepLog(): void
  /**
   * Returns true while the write-ahead log must not be emptied: while `run` copies the log, and after a failed flush of
   * the log or of the database file.
   */
  needsLog(): boolean
}

/**
 * Creates a drain, which copies the write-ahead log into the database file. `sql` is an open connection to the database
 * at `path`. `wal` flushes the write-ahead log, and `file` flushes the database file.
 */
export function openDrain(
  sql: Database,
  path: string,
  { wal, file }: { wal: Flusher; file: Flusher },
): Drain {
  const readers = new Set<Database>()
  let flushFailed = false
  let isLogKept = false

  /**
   * Flushes the database file. After a failed flush, the database file on the disk may lack changes that only the log
   * still has. So the connections in `readers` must then stay open: without them, SQLite would overwrite these changes
   * in the log.
   */
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
        // The log was not flushed, or it was not copied into the database file. In both cases, SQLite keeps all changes
        // in the log, even without the connection `reader`. So `reader` may be closed below.
        log.warn('write-ahead log not moved', errorFields(error))
      }
      // After a failed flush of the database file, the file on the disk may lack changes that were copied from the log.
      // The operating system may discard these changes. A second flush could then succeed without writing them. SQLite
      // does not notice this. It would overwrite the log, although only the log still has these changes. The read
      // transaction of `reader` prevents this, so `reader` is not closed here. The log then grows until the server is
      // restarted.
      if (flushFailed) return
      readers.delete(reader)
      reader.close()
    },
    keepLog() {
      isLogKept = true
      sql.run('pragma wal_autocheckpoint = 0')
      // The flush of the write-ahead log has failed, so the log on the disk may lack a part. The log must therefore not
      // be copied into the database file. After a power cut, this file could have only some of the copied changes, and
      // the log could not supply the others: the database would be damaged. SQLite copies the log when the last
      // connection is closed. So the connection `reader` stays open until the process ends.
      const reader = openReader(path)
      if (reader) readers.add(reader)
    },
    needsLog: () => isLogKept || readers.size > 0,
  }
}

/**
 * Opens a connection with a read transaction. As long as the connection is open, SQLite keeps the present content of
 * the write-ahead log. Returns null if the connection cannot be opened, for example without a free file descriptor.
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

/** Copies the write-ahead log into the database file, without a flush of the database file. */
function moveLog(sql: Database): void {
  const before = sql.query<{ synchronous: number }, []>('pragma synchronous').get()
  sql.run('pragma synchronous = off')
  try {
    sql.query('pragma wal_checkpoint(passive)').all()
  } finally {
    sql.run(`pragma synchronous = ${before?.synchronous ?? 'full'}`)
  }
}
