import { closeSync, existsSync, openSync } from 'node:fs'

/**
 * Creates an empty file that only its owner may read, before SQLite opens the file. SQLite gives its
 * additional files the same mode. This function does not open an existing file. Otherwise, on closing the
 * file, this process would lose all its POSIX locks on the file.
 */
export function touchPrivate(path: string): string {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  return path
}
