// A lock between processes: an exclusive SQLite transaction on a separate lock file. The operating system releases the
// lock when the process ends.

import { Database, SQLiteError } from 'bun:sqlite'
import { touchPrivate } from './private-file.ts'
import { reasonOf } from './reason.ts'

/**
 * Takes the lock on the file at `path`, and returns the function that releases it. Returns null if another process
 * holds the lock.
 */
export function lockFile(path: string): (() => void) | null {
  const file = openFile(path)
  try {
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

/**
 * Opens the lock file. First creates the file without SQLite. If this fails, the error contains a code of the operating
 * system, such as ENOSPC, from which a command tells the user the cause. An error of SQLite contains no such code.
 */
function openFile(path: string): Database {
  touchPrivate(path)
  try {
    return new Database(path)
  } catch (error) {
    throw new Error(`${path} cannot be opened: ${reasonOf(error)}; it must belong to the user of the service`)
  }
}
