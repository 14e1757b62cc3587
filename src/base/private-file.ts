import { closeSync, existsSync, openSync } from 'node:fs'

/**
 * Creates an empty file that only its owner may read, before SQLite opens the file. SQLite gives its
 * additional files the same mode. This function does not open an existing file: when a process closes any
 * handle of a file, it loses all its POSIX locks on that file.
 */
export function touchPrivate(path: string): string {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  return path
}
