import { closeSync, existsSync, openSync } from 'node:fs'

/**
 * Creates an empty database file that only its owner may read, before SQLite opens it. SQLite gives the same access
 * rights to the files that it creates beside the database. An existing file is not opened, because closing it would
 * release all POSIX locks that this process has on this file.
 */
export function touchPrivate(path: string): string {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  return path
}
