// Opens the database of the data folder for a command. A running server may use the database at the same time.

import type { Db } from '../db/db.ts'
import { openBeside } from '../db/open-beside.ts'
import { dataConfig, type Flags } from './settings.ts'

/** Opens the database of the configured data folder, calls `work` with it, and then closes it. */
export function withData<T>(flags: Flags, work: (db: Db, dataDir: string) => T): T {
  const { dataDir } = dataConfig(flags)
  const db = openBeside(dataDir, { synchronous: 'full' })
  try {
    return work(db, dataDir)
  } finally {
    db.close()
  }
}
