import { isServed } from './data-dir.ts'
import type { Db } from './db.ts'
import { type DbOptions, openDb } from './open-db.ts'

/**
 * Opens the database for a command, also while a server runs. Throws if a server runs and an older program made the
 * database: the migrations would change tables that this server may use.
 */
export function openBeside(dataDir: string, options: DbOptions = {}): Db {
  const beforeMigrations = () => {
    if (isServed(dataDir))
      throw new Error(
        'an older steno made the database, and a server runs: restart it first (systemctl restart steno); ' +
          'a waiting server of a pair updates its database when it takes over',
      )
  }
  return openDb(dataDir, { ...options, beforeMigrations })
}
