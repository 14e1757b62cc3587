// Opens the database of the data folder for a command. A server may have the database open at the same time.

import { openSecrets, type Secrets } from '../base/seal.ts'
import { type Db, openDb } from '../db/db.ts'
import { dataConfig, type Flags } from './settings.ts'

/** Calls `work` with the database of the data folder that the flags select. */
export function withData<T>(flags: Flags, work: (db: Db, secrets: Secrets) => T): T {
  const { dataDir } = dataConfig(flags)
  const db = openDb(dataDir, { synchronous: 'full' })
  try {
    return work(db, openSecrets(dataDir))
  } finally {
    db.close()
  }
}
