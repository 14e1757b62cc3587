// Signs a webhook: an HMAC over time and body. The receiver derives its secret from the API key.

import { createHmac } from 'node:crypto'

/** Returns the headers of a webhook that is sent at this time. The body must be sent byte for byte as it was signed. */
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
