// Random ids and tokens.

import { randomBytes } from 'node:crypto'

/**
 * Returns a UUIDv7. Ids sort by creation time, so new rows are neighbours in an index. The id reveals its creation
 * time.
 */
export function newId(): string {
  return Bun.randomUUIDv7()
}

export function isId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
}

/** Returns 256 random bits, for keys and links that must not be guessed. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}
