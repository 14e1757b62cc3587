import { closeSync, existsSync, openSync } from 'node:fs'
import { inheritOwner } from './inherit-owner.ts'

/**
 * Creates an empty database file before SQLite opens it, so that only its owner may read it. If root creates the file,
 * it gets the owner of the folder. SQLite copies the owner and the rights to the other files of the database. If the
 * file exists, it is not opened, because closing it would release all POSIX locks of this process on it.
 */
export function touchPrivate(path: string): string {
  if (!existsSync(path)) {
    closeSync(openSync(path, 'a', 0o600))
    inheritOwner(path)
  }
  return path
}
