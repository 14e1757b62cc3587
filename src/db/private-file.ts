import { closeSync, existsSync, openSync } from 'node:fs'

/**
 * Makes the file ours alone before SQLite first opens it; what SQLite puts beside it gets the same mode.
 * One that is there already is not touched: closing any handle of a file drops all POSIX locks this process has on it.
 */
export function touchPrivate(path: string): string {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  return path
}
