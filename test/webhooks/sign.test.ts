import { expect, test } from 'bun:test'
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { signingSecretOf } from '../../src/accounts/signing-secret.ts'
import { signedHeaders } from '../../src/webhooks/sign.ts'

test('the secret is the lower-case hex SHA-256 of the key', () => {
  // The expected secret comes from `printf %s sk_live_example | sha256sum`.
  expect(signingSecretOf('sk_live_example')).toBe(
    'edc0244907453860f53b31a05089a2a9f0fdb349e3610b2ab88a36fd9719d7fa',
  )
  expect(signingSecretOf('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})

test('a receiver that follows the documentation accepts the signature, and no other', () => {
  const key = 'sk_live_Zürich'
  const body = '{"event":"transcription.completed","text":"Grüezi 👋"}'
  const headers = signedHeaders(body, { signingSecret: signingSecretOf(key), nowMs: 1_795_000_000_999 })

  expect(headers['X-Service-Timestamp']).toBe('1795000000')
  expect(accepts(key, headers, body)).toBe(true)
  expect(accepts('sk_live_other', headers, body)).toBe(false)
  expect(accepts(key, headers, `${body} `)).toBe(false)
  expect(accepts(key, { ...headers, 'X-Service-Timestamp': '1795000001' }, body)).toBe(false)
})

test('a webhook has a content type, a user agent, a time and a signature', () => {
  const headers = signedHeaders('{}', { signingSecret: 'secret', nowMs: 0 })
  expect(headers).toMatchObject({
    'Content-Type': 'application/json',
    'User-Agent': 'service-webhook/1',
    'X-Service-Timestamp': '0',
    'X-Service-Signature': expect.stringMatching(/^[0-9a-f]{64}$/),
  })
})

/**
 * Checks a signature as a receiver of webhooks does. This code follows only the documentation, so it finds differences
 * between the documentation and the program.
 */
function accepts(key: string, headers: Record<string, string>, body: string): boolean {
  const secret = createHash('sha256').update(key, 'utf8').digest('hex')
  const payload = Buffer.concat([Buffer.from(`${headers['X-Service-Timestamp']}.`), Buffer.from(body)])
  const expected = createHmac('sha256', secret).update(payload).digest()
  return timingSafeEqual(expected, Buffer.from(headers['X-Service-Signature'] ?? '', 'hex'))
}
