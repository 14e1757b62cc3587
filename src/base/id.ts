// Names for things: ordered by time, so that new rows stand together in an index; nothing can be told from one.

import { randomBytes } from 'node:crypto'

export function newId(): string {
  return Bun.randomUUIDv7()
}

/** Long enough that it cannot be guessed: keys, tokens. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}
