import { closeSync, existsSync, openSync } from 'node:fs'

/**
 * Creates a file that only its owner may read, before SQLite opens it. SQLite gives its side files the same mode. An
 * existing file is not opened: closing any handle of a file releases all POSIX locks that this process has on it.
 */
export function touchPrivate(path: string): string {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  return path
}
