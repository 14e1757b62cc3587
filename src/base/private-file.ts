import { closeSync, existsSync, openSync } from 'node:fs'
import { inheritOwner } from './inherit-owner.ts'

/**
 * Creates an empty database file that only its owner may read, before SQLite opens it. A file of root gets the owner of
 * the folder. SQLite gives the same owner and rights to the files beside the database. An existing file is not opened:
 * closing it would release all POSIX locks of this process on it.
 */
export function touchPrivate(path: string): string {
  if (!existsSync(path)) {
    closeSync(openSync(path, 'a', 0o600))
    inheritOwner(path)
  }
  return path
}
