// A lock between processes: an exclusive SQLite transaction on a separate lock file. When the process that holds the
// lock ends for any reason, the operating system releases the lock.

import { Database } from 'bun:sqlite'
import { touchPrivate } from './private-file.ts'

/**
 * Takes the lock on the file at `path`, and returns the function that releases this lock. Returns null if another
 * process already holds the lock.
 */
export function lockFile(path: string): (() => void) | null {
  const file = new Database(touchPrivate(path))
  try {
    file.run('pragma busy_timeout = 0')
    file.run('begin exclusive')
  } catch {
    file.close()
    return null
  }
  return () => file.close()
}
