// Sends random requests from a fixed seed, and malformed requests. Each error response to a random request must have an
// error code of src/errors.ts and the HTTP status of this code. Only /v1/ready may have a status of 500 or more. There
// is one exception: for an invalid link from an email, /verify returns an HTML page without an error code.

import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { requestErrors } from '../../src/errors.ts'
import { limits } from '../../src/limits.ts'
import { type Random, seeded } from '../support/random.ts'
import { rawRequest } from '../support/raw-request.ts'
import { shareServices, startTestService, steered, type TestService } from '../support/service.ts'

shareServices()

const casesEach = 250
const seed = 42

const strings = [
  '',
  ' ',
  'a',
  'null',
  'undefined',
  'NaN',
  '-1',
  '0',
  '1e309',
  '0x10',
  '9'.repeat(400),
  '../../etc/passwd',
  '%00',
  '%zz',
  '%2e%2e%2f',
  "'; drop table jobs; --",
  '<script>alert(1)</script>',
  '{{7*7}}',
  '\u0000',
  '\ud800',
  '\u202e',
  '💥'.repeat(50),
  'e\u0301',
  '__proto__',
  'constructor',
  'toString',
  'x'.repeat(5000),
  '{"a":1}',
  '[1,2]',
  'sk_live_',
  'true',
  '2026-11-20T00:00:00Z',
  '2026-02-31',
  '+275760-09-13',
  'en',
  'https://a.example/x.mp3',
  'http://[::1]/',
  'https://user:pw@a.example:99999/',
  'javascript:alert(1)',
  'file:///etc/passwd',
  '//a',
  'https:',
]
const values: unknown[] = [
  ...strings,
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e308,
  51,
  [],
  {},
  [[]],
  { toString: null },
  [{ index: 0, text: 'Good day.' }],
  [{ index: -1 }, { text: null }],
  { 'SPEAKER 1': 'Ann', toString: 'x' },
]
const paths = [
  '/v1',
  '/v1/upload',
  '/v1/transcribe',
  '/v1/transcriptions',
  '/v1/search',
  '/v1/balance',
  '/v1/accounts',
  '/v1/transcribe/ID',
  '/v1/transcribe/ID/cancel',
  '/v1/upload/ID',
  '/v1/openapi.json',
  '/docs',
  '/verify',
  '/',
  '/v1/health',
]
const fields = [
  'filename',
  'url',
  'upload_id',
  'language',
  'diarize',
  'speaker_count',
  'align',
  'prompt',
  'vocabulary',
  'webhook_url',
  'utterances',
  'speakers',
  'metadata',
  'email',
  'password',
]
const parameters = [
  'format',
  'max_words',
  'max_chars',
  'max_duration',
  'sentence_aware',
  'include_speakers',
  'strip_chars',
  'include_timestamps',
  'status',
  'from',
  'to',
  'limit',
  'order',
  'cursor',
  'q',
  'version',
  'expires',
  'signature',
  'token',
]
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const headerNames = [
  'Idempotency-Key',
  'Content-Type',
  'X-Forwarded-For',
  'Accept',
  'Range',
  'If-None-Match',
  'If-Match',
  'Cookie',
]

steered(
  'random requests get answers of the contract',
  async () => {
    const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
    const ana = service.account('ana')
    const id = await ana.transcribe()
    service.engine.finish(await service.engine.given(1))
    await ana.until(id, 'completed')
    const random = seeded(seed)
    for (let count = 0; count < casesEach * paths.length; count++) {
      const wanted = paths[count % paths.length]!
      const path = wanted.replace('ID', () =>
        random.below(3) ? id : encodeURIComponent(wellFormed(random.pick(strings))),
      )
      const request = randomRequest(random, wanted, ana.key)
      await check(service, `${path}${randomQuery(random)}`, request)
    }
    expect((await ana.balance()).reserved_cents).toBe(0)
  },
  300_000,
)

test('a body that is not a valid JSON object gets the error envelope', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
  const ana = service.account('ana')
  const bodies = [
    '[',
    '{',
    '{"a"',
    'nul',
    '"text"',
    '7',
    '\ufeff{}',
    '{"url":"a","url":"b"}',
    '{"__proto__":{"url":"x"}}',
    `${'['.repeat(40_000)}`,
    `${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}`,
    '{"url": "\\ud800"}',
    '\u0000',
    '{}{}',
    `{"url":"${'x'.repeat(limits.bodyBytesMax - 20)}"}`,
  ]
  for (const path of ['/v1/upload', '/v1/transcribe', '/v1/accounts']) {
    for (const body of bodies) {
      const { status, body: answer } = await ana.post(path, body)
      expect([path, body.slice(0, 20), status]).toEqual([path, body.slice(0, 20), 400])
      expect(answer.error.code).toBeString()
    }
    const invalid = await service.fetch(path, {
      method: 'POST',
      headers: { Authorization: ana.key, 'Content-Type': 'application/json' },
      body: new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    })
    expect(invalid.status).toBe(400)
  }
})

test('invalid HTTP does not disturb the next request', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
  const ana = service.account('ana')
  const random = seeded(seed)
  const rubbish = [
    'GARBAGE\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'BREW /v1/balance HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET /v1/balance HTTP/1.1\r\n\r\n',
    `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET /v1 HTTP/1.1\r\nHost: x\r\nX: ${'b'.repeat(200_000)}\r\n\r\n`,
    'POST /v1/upload HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n',
    'POST /v1/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    'POST /v1/upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffff\r\n',
    'GET /v1\0/x HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET http://elsewhere/v1/balance HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET //elsewhere/v1 HTTP/1.1\r\nHost: x\r\n\r\n',
    ...Array.from({ length: 40 }, () =>
      String.fromCharCode(...Array.from({ length: 200 }, () => random.below(256))),
    ),
  ]
  for (const each of rubbish) {
    await throwAt(service, each)
    expect((await ana.get('/v1/balance')).status).toBe(200)
  }
})

test('a path is read as browsers read it: only dots and backslashes are resolved', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
  const ana = service.account('ana')
  const port = Number(new URL(service.url).port)
  const cases: [string, number][] = [
    ['/v1/balance', 200],
    ['/v1/balance?', 200],
    ['/v1/balance/', 404],
    ['/v1//balance', 404],
    ['/V1/balance', 404],
    ['/v1/%62alance', 404],
    ['/v1/balance;x', 404],
    ['/v1/balance#x', 404],
    ['/v1\\balance', 200],
    ['/v1/x/../balance', 200],
    ['/v1/transcribe/../balance', 200],
    ['/v1/transcribe/%zz', 404],
    ['/v1/transcribe/%', 404],
    ['/v1/transcribe/%00', 404],
    ['/v1/transcribe/%ff%fe', 404],
    ['/v1/transcribe/..', 404],
    [`/v1/transcribe/${'a'.repeat(9000)}`, 404],
    ['/v1/transcribe', 405],
  ]
  for (const [path, wanted] of cases) {
    const answer = await rawRequest(port, { method: 'GET', path, headers: { Authorization: ana.key } })
    expect([path, answer.slice(0, 12)]).toEqual([path, `HTTP/1.1 ${wanted}`])
    if (wanted >= 400) expect(answer).toContain('{"error":{"code":"')
  }
  const wrongly = ['PATCH', 'TRACE', 'PROPFIND', 'PURGE', 'M-SEARCH', 'OPTIONS', 'DELETE']
  for (const method of wrongly) {
    const answer = await rawRequest(port, { method, path: '/v1/balance', headers: {} })
    expect([method, answer.slice(0, 12)]).toEqual([method, 'HTTP/1.1 405'])
    expect(answer).toMatch(/\r\nAllow: GET\r\n/i)
  }
})

async function check(service: TestService, path: string, init: RequestInit): Promise<void> {
  const shown = `${init.method} ${path.slice(0, 200)} ${JSON.stringify(init.headers)} ${String(init.body).slice(0, 200)}`
  const { status, headers, text, body } = await service.fetch(path, init)
  if (status >= 500 && path.startsWith('/v1/ready') === false) throw new Error(`${status} for ${shown}`)
  expect(headers.get('link')).toContain('service-desc')
  if (status < 400) return
  const isPage = path.startsWith('/verify') && status === 410
  if (isPage) return
  const known = requestErrors[body?.error?.code as keyof typeof requestErrors]
  expect([shown, known?.status]).toEqual([shown, status as never])
  expect(text).not.toMatch(/\bat .*\.ts|node_modules|SQLite|\/tmp\/|\/dev\/shm\/|<html/i)
}

function randomRequest(random: Random, path: string, key: string): RequestInit {
  const usual =
    path.endsWith('cancel') || ['/v1/upload', '/v1/transcribe', '/v1/accounts'].includes(path)
      ? 'POST'
      : 'GET'
  const method = random.below(4) ? usual : random.pick(methods)
  const headers: Record<string, string> = { 'Content-Type': 'application/json' }
  if (random.below(10)) headers.Authorization = key
  if (random.below(3) === 0) headers[random.pick(headerNames)] = headerSafe(random.pick(strings))
  if (method === 'GET') return { method, headers }
  return { method, headers, body: random.below(10) ? randomBody(random) : wellFormed(random.pick(strings)) }
}

function randomBody(random: Random): string {
  const names = Array.from({ length: random.below(4) }, () =>
    random.below(8) ? random.pick(fields) : random.pick(strings),
  )
  return JSON.stringify(Object.fromEntries(names.map(name => [name, random.pick(values)])))
}

function randomQuery(random: Random): string {
  const pairs = Array.from({ length: random.below(4) }, () => {
    const value = random.pick(strings)
    return `${random.pick(parameters)}=${random.below(6) ? encodeURIComponent(wellFormed(value)) : headerSafe(value).replaceAll('#', '')}`
  })
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function wellFormed(text: string): string {
  return text.toWellFormed()
}

function headerSafe(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '~').trim()
}

/**
 * Sends the text `rubbish` over a new connection, and ends the sending side. Returns the response, or an empty text if
 * the server closes the connection without one.
 */
function throwAt({ url }: TestService, rubbish: string): Promise<string> {
  const { port, hostname } = new URL(url)
  return new Promise(resolve => {
    const socket = connect(Number(port), hostname)
    let answer = ''
    const done = () => {
      socket.destroy()
      resolve(answer)
    }
    socket.on('data', data => {
      answer += data
      if (/\r\n\r\n./s.test(answer)) done()
    })
    socket.once('error', done)
    socket.once('close', done)
    socket.write(Buffer.from(rubbish, 'latin1'), () => setImmediate(() => socket.end()))
  })
}
