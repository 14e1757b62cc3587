import { closeSync, existsSync, openSync } from 'node:fs'
import { inheritOwner } from './inherit-owner.ts'

/**
 * Creates an empty database file, before SQLite opens it, with rights for its owner only. If root creates the file, the
 * owner of the folder becomes the owner of the file. SQLite later gives the same owner and the same rights to the other
 * files of the database. An existing file is not opened, because closing it would release all POSIX locks that this
 * process has on it.
 */
export function touchPrivate(path: string): string {
  if (!existsSync(path)) {
    closeSync(openSync(path, 'a', 0o600))
    inheritOwner(path)
  }
  return path
}
