// Damages a database file, as a faulty disk does.

import { Database } from 'bun:sqlite'
import { readFileSync, writeFileSync } from 'node:fs'
import { databasePath } from '../../src/db/db.ts'

/** Overwrites the first page of a table. SQLite finds this damage when it reads the table, and not before. */
export function damageTable(dataDir: string, table: string): void {
  const path = databasePath(dataDir)
  using db = new Database(path)
  const { root } = db
    .query<{ root: number }, [string]>('select rootpage as root from sqlite_schema where name = ?')
    .get(table) ?? { root: 0 }
  const pageBytes = 4096
  const file = readFileSync(path)
  file.fill(1, pageBytes * (root - 1), pageBytes * root)
  writeFileSync(path, file)
}
