// Gives the services of tests a new database that has all migrations.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databasePath } from '../../src/db/db.ts'
import { openDb } from '../../src/db/open-db.ts'
import { scratch } from './folder.ts'

/** The bytes of an empty database with all migrations. Null before the first use. */
let migrated: Uint8Array | null = null
let services = 0

/**
 * Writes an empty database with all migrations into a data folder without a database. This saves a service 16 ms of CPU
 * time, and the wait for the disk. The first service of the process still applies the migrations itself.
 */
export function placeDatabase(dataDir: string): void {
  services += 1
  if (services === 1 || existsSync(databasePath(dataDir))) return
  migrated ??= readMigrated()
  writeFileSync(databasePath(dataDir), migrated, { mode: 0o600 })
}

function readMigrated(): Uint8Array {
  const folder = mkdtempSync(join(scratch, 'steno-test-'))
  openDb(folder).close()
  const bytes = readFileSync(databasePath(folder))
  rmSync(folder, { recursive: true })
  return bytes
}
