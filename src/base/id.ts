// Creates random ids and tokens.

import { randomBytes } from 'node:crypto'

/**
 * Returns a UUIDv7. The ids sort by their time of creation, so new records are next to each other in a database index.
 * Anyone who sees an id can read the time of creation from it.
 */
export function newId(): string {
  return Bun.randomUUIDv7()
}

export function isId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
}

/** Returns 256 random bits as text, for keys and links that an attacker cannot guess. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}
