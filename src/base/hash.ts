import { timingSafeEqual } from 'node:crypto'

export function sha256(text: string | Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex')
}

export function hmacSha256(key: string | Uint8Array, text: string): string {
  return new Bun.CryptoHasher('sha256', key).update(text).digest('hex')
}

/**
 * Returns true if the texts are equal. For texts of the same length, the duration of the comparison tells an attacker
 * nothing about their content.
 */
export function sameText(left: string, right: string): boolean {
  const leftBytes = Buffer.from(left)
  const rightBytes = Buffer.from(right)
  return leftBytes.length === rightBytes.length && timingSafeEqual(leftBytes, rightBytes)
}
