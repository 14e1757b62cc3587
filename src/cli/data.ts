// Opens the database of the data folder for a command. A running server may use the database at the same time.

import type { Db } from '../db/db.ts'
import { openBeside } from '../db/open-beside.ts'
import { faultIn, refusedIn } from '../db/open-db.ts'
import { whyOutdated } from '../db/standby.ts'
import { dataConfig, type Flags } from './settings.ts'

/**
 * Opens the database of the configured data folder, calls `work` with it, and then closes it. In a pair of servers,
 * only one server works at a time. Throws if the server of the other machine was the last one that worked. The database
 * of that server will replace the one of this machine, so changes here would be lost. If the database cannot be read,
 * is locked, or has a disk that is full or faulty, the error says what to do.
 */
export function withData<T>(flags: Flags, work: (db: Db, dataDir: string) => T): T {
  const config = dataConfig(flags)
  const { dataDir } = config
  const why = whyOutdated(config)
  if (why !== null) throw new Error(why)
  try {
    return withOpened(dataDir, work)
  } catch (error) {
    throw refusedIn(dataDir, faultIn(dataDir, error))
  }
}

function withOpened<T>(dataDir: string, work: (db: Db, dataDir: string) => T): T {
  const db = openBeside(dataDir, { synchronous: 'full' })
  try {
    return work(db, dataDir)
  } finally {
    db.close()
  }
}
