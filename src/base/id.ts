// Random ids and tokens.

import { randomBytes } from 'node:crypto'

/**
 * Returns a UUIDv7. These ids sort by their creation time, so new database records are neighbours in an
 * index. Anyone who sees an id can read its creation time.
 */
export function newId(): string {
  return Bun.randomUUIDv7()
}

export function isId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
}

/** Returns 256 random bits as text. They are used for keys and links that no attacker can guess. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}
