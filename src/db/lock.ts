// Locks between processes: SQLite's own on a file that is there for nothing else. The system drops them however we end.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { touchPrivate } from './private-file.ts'

/** Throws when another server holds it; gives the function that lets go. One server a data folder. */
export function lockDataDir(dataDir: string): () => void {
  const release = lockFile(join(dataDir, 'serve.lock'))
  if (!release) throw new Error(`another steno is already serving the data folder ${dataDir}`)
  return release
}

/** The function that lets go, or null when somebody else holds this lock. */
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
