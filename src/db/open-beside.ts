import { isServed } from './data-dir.ts'
import type { Db } from './db.ts'
import { type DbOptions, openDb } from './open-db.ts'

/**
 * Opens the database for a command, also while a server runs. Throws if the server is older than this program, and the
 * database lacks migrations: they would change tables that the server uses.
 */
export function openBeside(dataDir: string, options: DbOptions = {}): Db {
  const beforeMigrations = () => {
    if (isServed(dataDir))
      throw new Error(
        'the running service is older than this program: restart it first (systemctl restart steno)',
      )
  }
  return openDb(dataDir, { ...options, beforeMigrations })
}
