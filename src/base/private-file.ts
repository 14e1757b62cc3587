import { closeSync, existsSync, openSync } from 'node:fs'

/**
 * Creates an empty file that only its owner may read, before SQLite opens it: SQLite gives its further files the same
 * mode. If the file exists, it is not opened, because closing it again would release all POSIX locks of this process
 * on it.
 */
export function touchPrivate(path: string): string {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  return path
}
