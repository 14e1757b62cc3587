// Tests the responses to malformed HTTP requests. The tests write to a socket, because an HTTP library sends no
// malformed requests.

import { expect, test } from 'bun:test'
import { rates } from '../../src/limits.ts'
import { steeredEngine } from '../support/engine.ts'
import { rawRequest } from '../support/raw-request.ts'
import { shareServices, startTestService, steered, type TestService } from '../support/service.ts'

shareServices()

const limited = { settings: { STENO_RATE_LIMITS: 'on' } }

const malformedHosts = ['a b', '[', 'x:99999', '<script>', '', '%', 'user@x', '::1', 'a/b', 'x?']

test.each(malformedHosts)('an unknown path with the Host %p gets the envelope of 404', async host => {
  const service = await startTestService(limited)
  const answer = await ask(service, 'GET', '/nope', { Host: host })
  expect([answer.status, answer.body.error.code]).toEqual([404, 'NOT_FOUND'])
  expectUsualHeaders(answer)
})

test.each(malformedHosts)('a wrong method with the Host %p gets the envelope of 405', async host => {
  const service = await startTestService(limited)
  for (const method of ['DELETE', 'CONNECT', 'TRACE']) {
    const answer = await ask(service, method, '/v1', { Host: host })
    expect([method, answer.status, answer.body.error.code]).toEqual([method, 405, 'METHOD_NOT_ALLOWED'])
    expect(answer.headers.get('allow')).toBe('GET')
    expectUsualHeaders(answer)
  }
  const head = await ask(service, 'HEAD', '/v1', { Host: host })
  expect([head.status, head.text]).toEqual([405, ''])
  expectUsualHeaders(head)
})

test.each(malformedHosts)('the consent page with the Host %p says what is wrong', async host => {
  const service = await startTestService(limited)
  const answer = await ask(service, 'GET', '/oauth/authorize?client_id=unknown', { Host: host })
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('is not registered')])
})

test.each(['nas', 'a b', ''])(
  'with the Host %p, the end of a path is not taken for a whole path',
  async host => {
    const service = await startTestService(limited)
    for (const path of ['/x/docs', '/v1/none/docs', '/v1/x/../docs']) {
      const answer = await ask(service, 'GET', path, { Host: host })
      expect([path, answer.status]).toEqual([path, 404])
    }
  },
)

test('CONNECT to a host gets the envelope of 404', async () => {
  const service = await startTestService(limited)
  for (const target of ['x:443', 'x', '/nope']) {
    const answer = await ask(service, 'CONNECT', target, { Host: 'x:443' })
    expect([target, answer.status, answer.body.error.code]).toEqual([target, 404, 'NOT_FOUND'])
    expectUsualHeaders(answer)
  }
})

test('a request with a malformed Host counts towards the quota of its address', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'ip=3' } })
  for (let count = 0; count < 3; count++) await ask(service, 'GET', '/nope', { Host: 'a b' })
  expect((await service.fetch('/v1')).status).toBe(429)
})

test('a path that cannot be decoded gets an envelope', async () => {
  const service = await startTestService(limited)
  const { key } = service.account('ana')
  for (const path of ['/v1/transcribe/%zz', '/v1/transcribe/%ff', '/%']) {
    const answer = await ask(service, 'GET', path, { 'X-Api-Key': key })
    expect([path, answer.status]).toEqual([path, 404])
    expectUsualHeaders(answer)
  }
})

steered('an error beyond the routes is answered without a stack', async () => {
  const engine = steeredEngine()
  // The fake engine makes the response of /v1/ready invalid, and the error handler of the app throws for such a
  // response. The error handler of the server must then answer.
  const service = await startTestService({
    parts: {
      engine: { ...engine, state: () => ({ ...engine.state(), ready: 'yes' as unknown as boolean }) },
    },
  })
  const answer = await ask(service, 'GET', '/v1/ready', {})
  expect([answer.status, answer.body.error.code]).toEqual([500, 'INTERNAL_ERROR'])
  expect(answer.text).not.toContain('src/')
  expectUsualHeaders(answer)
})

type RawAnswer = Awaited<ReturnType<typeof ask>>

/** Checks the headers that every JSON error response has. RateLimit-Policy must have the limit of the IP address. */
function expectUsualHeaders({ headers }: RawAnswer): void {
  expect(headers.get('content-type')).toStartWith('application/json')
  expect(headers.get('link')).toContain('rel="service-desc"')
  expect(headers.get('ratelimit-policy')).toContain(`"ip";q=${rates.ip};`)
}

async function ask({ url }: TestService, method: string, path: string, headers: Record<string, string>) {
  const answer = await rawRequest(Number(new URL(url).port), { method, path, headers })
  const [head = '', text = ''] = answer.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const isJson = text.startsWith('{')
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: new Headers(lines.map(line => line.split(/: (.*)/).slice(0, 2) as [string, string])),
    text,
    body: isJson ? JSON.parse(text) : null,
  }
}
