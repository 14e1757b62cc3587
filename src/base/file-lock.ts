// Inter-process locks: an exclusive SQLite transaction on a dedicated file. The system releases the lock however the
// process ends.

import { Database } from 'bun:sqlite'
import { touchPrivate } from './private-file.ts'

/** Gives the function that releases the lock, or null when another holder has it. */
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
