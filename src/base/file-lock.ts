// A lock between processes: an exclusive SQLite transaction on a separate lock file. When the process that holds the
// lock ends for any reason, the operating system releases the lock.

import { Database, SQLiteError } from 'bun:sqlite'
import { touchPrivate } from './private-file.ts'
import { reasonOf } from './reason.ts'

/**
 * Takes the lock on the file at `path`, and returns the function that releases this lock. Returns null if another
 * process already holds the lock.
 */
export function lockFile(path: string): (() => void) | null {
  const file = openFile(path)
  try {
    file.run('pragma busy_timeout = 0')
    // Without a journal file, the lock needs no space on the disk.
    file.run('pragma journal_mode = memory')
    file.run('begin exclusive')
    return () => file.close()
  } catch (error) {
    file.close()
    if (error instanceof SQLiteError && error.code === 'SQLITE_BUSY') return null
    throw new Error(`${path} cannot be locked: ${reasonOf(error)}`)
  }
}

function openFile(path: string): Database {
  try {
    return new Database(touchPrivate(path))
  } catch (error) {
    throw new Error(`${path} cannot be opened: ${reasonOf(error)}; it must belong to the user of the service`)
  }
}
