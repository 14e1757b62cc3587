import { closeSync, existsSync, openSync } from 'node:fs'

/**
 * Creates an empty file that only its owner may read, before SQLite opens the file. SQLite gives its additional files
 * the mode of this file. An existing file is not opened: closing it again would release all POSIX locks that this
 * process has on the file.
 */
export function touchPrivate(path: string): string {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  return path
}
