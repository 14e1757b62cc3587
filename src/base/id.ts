// Ids and tokens.

import { randomBytes } from 'node:crypto'

/** A UUIDv7: in order of time, so that new rows are neighbours in an index. It tells its millisecond. */
export function newId(): string {
  return Bun.randomUUIDv7()
}

/** 256 random bits, for keys and links that must not be guessed. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}
