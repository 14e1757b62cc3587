// How a receiver knows that a callback is ours: an HMAC over time and body, keyed by a secret both sides derive.

import { createHash, createHmac } from 'node:crypto'

/** What the receiver makes of the API key too; the key itself is never needed again. */
export function signingSecretOf(apiKey: string): string {
  return createHash('sha256').update(apiKey, 'utf8').digest('hex')
}

/** The headers of a callback sent now. The body must be sent exactly as it was signed. */
export function signedHeaders(
  body: string,
  { signingSecret, nowMs }: { signingSecret: string; nowMs: number },
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000))
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'service-webhook/1',
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': createHmac('sha256', signingSecret).update(`${timestamp}.${body}`).digest('hex'),
  }
}
