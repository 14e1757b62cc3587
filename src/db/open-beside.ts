import { isServed } from './data-dir.ts'
import type { Db } from './db.ts'
import { type DbOptions, openDb } from './open-db.ts'

/**
 * Opens the database for a command, also while a server runs. Throws if an older program made the database and a server
 * holds the lock of the data folder: the migrations would change tables that this server may use. A new database is
 * made even while a server holds the lock: such a server waits as the second one of a pair, and its data folder has no
 * database yet.
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
