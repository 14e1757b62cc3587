// Opens the database of the data folder for a command. A server may use the same database at the same time.

import { openSecrets, type Secrets } from '../base/seal.ts'
import { makeDataDir } from '../db/data-dir.ts'
import { type Db, openDb } from '../db/db.ts'
import { configOf } from './settings.ts'

export function withData<T>(work: (db: Db, secrets: Secrets) => T): T {
  const { dataDir } = configOf()
  makeDataDir(dataDir)
  const db = openDb(dataDir, { synchronous: 'full' })
  try {
    return work(db, openSecrets(dataDir))
  } finally {
    db.close()
  }
}
