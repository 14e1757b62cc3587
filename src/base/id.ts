// Creates random ids and tokens.

import { randomBytes } from 'node:crypto'

/**
 * Returns a UUIDv7. The ids sort by creation time, so new records are neighbours in a database index. Anyone can read
 * the creation time from an id.
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
