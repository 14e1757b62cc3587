// One server a data folder. The lock is SQLite's own on a file of its own: the system drops it however we end.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { touchPrivate } from './private-file.ts'

/** Throws when another server holds it; gives the function that lets go. */
export function lockDataDir(dataDir: string): () => void {
  const file = new Database(touchPrivate(join(dataDir, 'serve.lock')))
  try {
    file.run('pragma busy_timeout = 0')
    file.run('begin exclusive')
  } catch {
    file.close()
    throw new Error(`another steno is already serving the data folder ${dataDir}`)
  }
  return () => file.close()
}
