// Signs a webhook with an HMAC of the time and the body. The receiver derives the secret from its API key, and computes
// the same signature.

import { createHmac } from 'node:crypto'

/**
 * Returns the HTTP headers of a webhook that is sent at the time `nowMs`. The signature is valid only for this `body`.
 */
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
