import { closeSync, existsSync, openSync } from 'node:fs'
import { inheritOwner } from './inherit-owner.ts'

/**
 * Creates an empty database file that only its owner may read, before SQLite opens it. A file that root creates in the
 * folder of another user belongs to this user. SQLite gives the same owner and access rights to the files that it
 * creates beside the database. An existing file is not opened, because closing it would release all POSIX locks that
 * this process has on this file.
 */
export function touchPrivate(path: string): string {
  if (!existsSync(path)) {
    closeSync(openSync(path, 'a', 0o600))
    inheritOwner(path)
  }
  return path
}
