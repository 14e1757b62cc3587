import { timingSafeEqual } from 'node:crypto'

export function sha256(text: string | Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex')
}

export function hmacSha256(key: string | Uint8Array, text: string): string {
  return new Bun.CryptoHasher('sha256', key).update(text).digest('hex')
}

/** Compares without telling by its duration how much was right. */
export function sameText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
