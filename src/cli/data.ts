// The database for a command that runs beside a server, or before the first one.

import { chmodSync, mkdirSync } from 'node:fs'
import { openSecrets, type Secrets } from '../base/seal.ts'
import { type Db, openDb } from '../db/db.ts'
import { configOf } from './settings.ts'

export function withData<T>(work: (db: Db, secrets: Secrets) => T): T {
  const { dataDir } = configOf()
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  chmodSync(dataDir, 0o700)
  const db = openDb(dataDir)
  try {
    return work(db, openSecrets(dataDir))
  } finally {
    db.close()
  }
}
