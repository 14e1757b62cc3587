// Opens the database of the data folder for a command, while a server may have it open too.

import { openSecrets, type Secrets } from '../base/seal.ts'
import { type Db, openDb } from '../db/db.ts'
import { dataConfig, type Flags } from './settings.ts'

/** Opens the database of the data folder that the flags name, and calls `work` with it. */
export function withData<T>(flags: Flags, work: (db: Db, secrets: Secrets) => T): T {
  const { dataDir } = dataConfig(flags)
  const db = openDb(dataDir, { synchronous: 'full' })
  try {
    return work(db, openSecrets(dataDir))
  } finally {
    db.close()
  }
}
