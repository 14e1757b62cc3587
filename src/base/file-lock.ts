// Inter-process locks: an exclusive SQLite transaction on a dedicated file. The operating system releases the lock when
// the process ends for any reason.

import { Database } from 'bun:sqlite'
import { touchPrivate } from './private-file.ts'

/** Returns the function that releases the lock, or null when the lock is already held. */
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
