import { expect, test } from 'bun:test'
import { findAccount } from '../../src/accounts/account.ts'
import { revokeKey } from '../../src/accounts/key.ts'
import { createSession } from '../../src/accounts/session.ts'
import { openApp } from '../../src/api/app.ts'
import { parseBody } from '../../src/api/gate/body.ts'
import { callerIp } from '../../src/api/gate/client-ip.ts'
import type { Service } from '../../src/api/service.ts'
import { limits, rates } from '../../src/limits.ts'
import { parseNets } from '../../src/net/nets.ts'
import { type Answer, shareServices, startTestService, steered } from '../support/service.ts'
import { addTranscript } from '../support/transcripts.ts'

shareServices()

const limited = { settings: { STENO_RATE_LIMITS: 'on' } }

const windowSeconds = limits.rateWindowMs / 1000
const dayMs = 24 * 3600 * 1000

test('both headers accept a key, with or without Bearer', async () => {
  const service = await startTestService(limited)
  const { key } = service.account('ana')
  const headers: Record<string, string>[] = [
    { Authorization: key },
    { authorization: `Bearer ${key}` },
    { Authorization: `bearer   ${key}` },
    { 'X-Api-Key': key },
    { 'x-api-key': key, Authorization: `Bearer ${key}` },
  ]
  for (const each of headers) expect((await service.fetch('/v1/balance', { headers: each })).status).toBe(200)
})

test('a shared cache may not store the response to a request with a credential', async () => {
  const service = await startTestService(limited)
  const ana = service.account('ana')
  const id = addTranscript(service.db, ana, ['One.'])
  const cached = async (path: string, key: string) => {
    const { status, headers } = await service.fetch(path, { headers: { 'X-Api-Key': key } })
    return [status, headers.get('cache-control')]
  }
  for (const path of ['/v1/balance', `/v1/transcribe/${id}`, `/v1/transcribe/${id}/export?format=srt`])
    expect(await cached(path, ana.key)).toEqual([200, 'no-store'])
  expect(await cached('/v1/transcribe/unknown', ana.key)).toEqual([404, 'no-store'])
  expect(await cached('/v1/balance', 'sk_live_unknown')).toEqual([401, 'no-store'])
  const upload = { method: 'HEAD', headers: { 'X-Api-Key': ana.key, 'Tus-Resumable': '1.0.0' } }
  const { status, headers } = await service.fetch('/v1/upload/resumable/unknown', upload)
  expect([status, headers.get('cache-control')]).toEqual([404, 'no-store'])
  expect(await cached('/v1', ana.key)).toEqual([200, null])
})

test('Authorization takes precedence over X-Api-Key', async () => {
  const service = await startTestService(limited)
  const { key } = service.account('ana')
  const answer = await service.fetch('/v1/balance', {
    headers: { 'X-Api-Key': key, Authorization: 'sk_live_x' },
  })
  expect(answer.status).toBe(401)
})

test('a missing, malformed, unknown or revoked key gets 401 with a challenge', async () => {
  const service = await startTestService(limited)
  const ana = service.account('ana')
  const ask = async (headers: Record<string, string>) => {
    const { status, body, headers: got } = await service.fetch('/v1/balance', { headers })
    expect(got.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${service.url}/.well-known/oauth-protected-resource"`,
    )
    expect(got.get('ratelimit-policy')).toBe(policy('balance.get'))
    expect(got.get('ratelimit')).toBeNull()
    return [status, body.error.code]
  }
  expect(await ask({})).toEqual([401, 'INVALID_API_KEY'])
  expect(await ask({ Authorization: 'Basic YTpi' })).toEqual([401, 'INVALID_API_KEY'])
  expect(await ask({ 'X-Api-Key': 'sk_live_unknown' })).toEqual([401, 'INVALID_API_KEY'])
  revokeKey(service.db, ana.keyId)
  expect(await ask({ 'X-Api-Key': ana.key })).toEqual([401, 'API_KEY_REVOKED'])
})

const form = [
  '--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n',
  '--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nsound\r\n--xyz--\r\n',
].join('')

steered.each([
  ['POST', '/v1/transcribe', '{"url":"https://media.example/a.mp3"}'],
  ['POST', '/v1/upload', '{"filename":"a.mp3"}'],
  ['PATCH', '/v1/transcribe/x', '{}'],
  ['POST', '/v1/audio/transcriptions', form],
  ['POST', '/mcp', '{}'],
  ['POST', '/app/keys', '{"name":"feed"}'],
])('%s %s gets 401 if its key is revoked while its body arrives', async (method, path, text) => {
  const service = await startTestService()
  const { id: accountId, key, keyId } = service.account('ana')
  const token = createSession(service.db, { accountId, keyId })
  const pull = (controller: ReadableStreamDefaultController) => {
    revokeKey(service.db, keyId)
    controller.enqueue(new TextEncoder().encode(text))
    controller.close()
  }
  const request = new Request(`${service.url}${path}`, {
    method,
    headers: {
      'Content-Type': text === form ? 'multipart/form-data; boundary=xyz' : 'application/json',
      // With this header, the body of a request to start a job is read by `takeIdempotentBody`, and not by `takeBody`.
      // Both functions must check the API key again after they have read the body.
      'Idempotency-Key': 'a',
      ...(path.startsWith('/app/')
        ? { Cookie: `steno_session=${token}`, 'Sec-Fetch-Site': 'same-origin' }
        : { Authorization: key }),
    },
    // With a `highWaterMark` of 0, `pull` is called only when the server reads the body. So the key is revoked after
    // the server has checked the headers.
    body: new ReadableStream({ pull }, { highWaterMark: 0 }),
  })
  expect((await openApp(service as unknown as Service).handle(request)).status).toBe(401)
})

// The key is revoked while the server looks up the host name of this address. The server looks up the host name only of
// a plain http address, so the address is not https.
const webhook = 'http://hooks.example/steno'

steered.each([
  ['POST', '/v1/transcribe', { url: 'https://media.example/a.mp3', webhook_url: webhook }],
  ['PUT', '/app/webhook', { url: webhook }],
  ['POST', '/v1/voices', { name: 'Ana', upload_id: 'of the account' }],
])('%s %s changes nothing if its key is revoked while the request waits', async (method, path, body) => {
  let revoke = () => {}
  const resolve = async () => {
    revoke()
    return ['10.1.2.3']
  }
  const makePrint = async () => {
    revoke()
    return { print: [0.6, 0.8], model: 'voice-encoder', seconds: 20 }
  }
  const service = await startTestService({
    settings: { STENO_ALLOW_NETS: '10.0.0.0/8' },
    parts: { resolve, makePrint },
  })
  const { db } = service
  const ana = service.account('ana')
  const token = createSession(db, { accountId: ana.id, keyId: ana.keyId })
  const sent = 'upload_id' in body ? { ...body, upload_id: await ana.upload() } : body
  revoke = () => revokeKey(db, ana.keyId)
  const answer = await service.fetch(path, {
    method,
    headers: {
      'Content-Type': 'application/json',
      ...(path.startsWith('/app/')
        ? { Cookie: `steno_session=${token}`, 'Sec-Fetch-Site': 'same-origin' }
        : { Authorization: ana.key }),
    },
    body: JSON.stringify(sent),
  })
  expect(answer.status).toBe(401)
  expect(db.list('select id from jobs')).toEqual([])
  expect(db.list('select id from voices')).toEqual([])
  expect(findAccount(db, ana.id)?.webhookUrl).toBeNull()
})

test('every response has headers with its quota and a link to the API description', async () => {
  const service = await startTestService(limited)
  const ana = service.account('ana')
  const answer = await ana.get('/v1/balance')
  expect(headersOf(answer)).toEqual({
    link: `<${service.url}/v1/openapi.json>; rel="service-desc"`,
    'ratelimit-policy': policy('balance.get'),
    ratelimit: `"endpoint";r=${rates['balance.get'] - 1};t=${windowSeconds}`,
    'x-ratelimit-limit': `${rates['balance.get']}`,
    'x-ratelimit-remaining': `${rates['balance.get'] - 1}`,
    'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/),
  })
})

test('GET /v1 and POST /v1/accounts need no key and send no RateLimit header', async () => {
  const service = await startTestService(limited)
  for (const answer of [
    await service.fetch('/v1'),
    await service.fetch('/v1/accounts', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    }),
  ]) {
    expect(answer.headers.get('ratelimit')).toBeNull()
    expect(answer.headers.get('ratelimit-policy')).toStartWith('"endpoint";')
    expect(answer.headers.get('x-ratelimit-remaining')).not.toBeNull()
  }
})

test('a request that the handler refuses with 404 or 405 counts once', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'ip=3' } })
  const ana = service.account('ana')
  const answers = [await ana.get('/mcp'), await ana.get('/assets/none.js'), await ana.get('/mcp')]
  expect(answers.map(({ status }) => status)).toEqual([405, 404, 405])
  for (const { headers } of answers) {
    const quotas = [...headers].filter(([name]) => name.includes('ratelimit'))
    expect(quotas).toEqual([['ratelimit-policy', '"ip";q=3;w=60']])
  }
  expect((await ana.get('/v1/balance')).status).toBe(429)
})

test('405 names the methods; 404 and 405 show only the quota of the address', async () => {
  const service = await startTestService(limited)
  const ask = (method: string, path: string) => service.fetch(path, { method })
  for (const [method, path, allow] of [
    ['DELETE', '/v1/balance', 'GET'],
    ['HEAD', '/v1/balance', 'GET'],
    ['OPTIONS', '/v1/transcribe', 'POST'],
    ['PUT', '/v1/transcribe/x', 'GET, PATCH, DELETE'],
    ['GET', '/v1/transcribe/x/cancel', 'POST'],
    ['POST', '/v1', 'GET'],
    ['GET', '/v1/upload/x', 'PUT'],
    ['GET', '/v1/upload/resumable', 'OPTIONS, POST'],
    ['PUT', '/v1/upload/resumable', 'OPTIONS, POST'],
  ] as const) {
    const answer = await ask(method, path)
    expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, allow])
    expect(answer.headers.get('ratelimit-policy')).toBe(`"ip";q=${rates.ip};w=${windowSeconds}`)
    expect(answer.headers.get('link')).toContain('service-desc')
  }
  const unknown = ['/nowhere', '/v1/balance/', '/v2/balance', '/v1/transcribe/a/b/c', '/v1/openapi-json']
  for (const path of unknown) {
    const answer = await ask('POST', path)
    expect([answer.status, answer.body.error.code]).toEqual([404, 'NOT_FOUND'])
    expect(answer.headers.get('ratelimit-policy')).toBe(`"ip";q=${rates.ip};w=${windowSeconds}`)
  }
})

steered('the quota of an endpoint belongs to the key, and its window slides', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'jobs.cancel=2' } })
  const [ana, ben] = [service.account('ana'), service.account('ben')]
  const cancel = (who: typeof ana) => who.post('/v1/transcribe/x/cancel')
  expect((await cancel(ana)).status).toBe(404)
  service.later(20_000)
  expect((await cancel(ana)).headers.get('x-ratelimit-remaining')).toBe('0')

  const refused = await cancel(ana)
  expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED'])
  expect(Number(refused.headers.get('retry-after'))).toBeWithin(39, 41)
  expect(refused.headers.get('ratelimit')).toMatch(/^"endpoint";r=0;t=(59|60)$/)
  expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')

  expect((await cancel(ben)).status).toBe(404)
  expect((await ana.get('/v1/balance')).status).toBe(200)
  service.later(40_500)
  expect((await cancel(ana)).status).toBe(404)
  expect((await cancel(ana)).status).toBe(429)
})

steered('a step of the wall clock neither keeps callers out nor gives them their quota back', async () => {
  for (const stepMs of [-2 * dayMs, 2 * dayMs]) {
    let wallMs = Date.now()
    const service = await startTestService({
      settings: { STENO_RATE_LIMITS: 'balance.get=2' },
      parts: { clock: () => wallMs },
    })
    const ana = service.account('ana')
    const first = await ana.get('/v1/balance')
    expect(Number(first.headers.get('x-ratelimit-reset'))).toBe(Math.ceil(wallMs / 1000) + windowSeconds)
    await ana.get('/v1/balance')
    wallMs += stepMs
    const refused = await ana.get('/v1/balance')
    expect([stepMs, refused.status]).toEqual([stepMs, 429])
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(windowSeconds - 1, windowSeconds + 1)
    expect(refused.headers.get('ratelimit')).toMatch(/^"endpoint";r=0;t=(59|60)$/)
    service.later(limits.rateWindowMs)
    expect((await ana.get('/v1/balance')).status).toBe(200)
  }
})

test('refused requests count towards no quota', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'ip=5,balance.get=2' } })
  const ana = service.account('ana')
  const statuses: number[] = []
  for (let count = 0; count < 5; count++) statuses.push((await ana.get('/v1/balance')).status)
  expect(statuses).toEqual([200, 200, 429, 429, 429])
  // The limit of the IP address is 5 requests. Only the two accepted requests above count, so three more are allowed.
  for (let count = 0; count < 3; count++) expect((await ana.get('/v1/transcriptions')).status).toBe(200)
  expect((await ana.get('/v1/transcriptions')).status).toBe(429)
})

steered('above the quota of the address no header shows the quota of the key', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'ip=3' } })
  const ana = service.account('ana')
  // Three failed requests use up the IP address's quota of three: an unknown path, a missing key, a wrong method.
  await service.fetch('/nowhere')
  await service.fetch('/v1/balance')
  await service.fetch('/v1/balance', { method: 'PUT' })
  const refused = await ana.get('/v1/balance')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('ratelimit')).toBeNull()
  expect(refused.headers.get('x-ratelimit-remaining')).toBeNull()
  expect(refused.headers.get('ratelimit-policy')).toBe('"endpoint";q=100;w=60, "ip";q=3;w=60')
  expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61)
  for (const path of ['/v1/health', '/v1/ready', '/metrics'])
    expect((await service.fetch(path)).status).toBe(200)
})

test('when rate limits are off, no header shows a quota', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
  const ana = service.account('ana')
  for (const answer of [
    await ana.get('/v1/balance'),
    await service.fetch('/nowhere'),
    await service.fetch('/v1'),
  ]) {
    expect(Object.keys(headersOf(answer))).toEqual(['link'])
  }
})

test('a denied address always gets 403', async () => {
  const service = await startTestService({
    settings: { STENO_RATE_LIMITS: 'on', STENO_DENY_IPS: '127.0.0.0/8' },
  })
  for (const path of ['/v1', '/nowhere', '/v1/health']) {
    const answer = await service.fetch(path)
    expect([answer.status, answer.body.error.code]).toEqual([403, 'FORBIDDEN'])
    expect(answer.headers.get('link')).toContain('service-desc')
    expect(answer.headers.get('ratelimit-policy')).toBe(`"ip";q=${rates.ip};w=${windowSeconds}`)
  }
})

test('the address of the caller is read from X-Forwarded-For of a trusted proxy', async () => {
  const settings = { STENO_TRUST_PROXY: '127.0.0.0/8,10.0.0.0/8', STENO_DENY_IPS: '192.0.2.0/24' }
  const service = await startTestService({ settings })
  const status = async (forwarded: string) =>
    (await service.fetch('/v1/health', { headers: { 'X-Forwarded-For': forwarded } })).status
  expect(await status('192.0.2.1')).toBe(403)
  expect(await status('192.0.2.1, 10.1.1.1')).toBe(403)
  expect(await status('192.0.2.1, 203.0.113.9, 10.1.1.1')).toBe(200)
  expect(await status('192.0.2.1:5123')).toBe(403)
  expect(await status('[::ffff:192.0.2.1]:5123, 10.1.1.1:80')).toBe(403)
  expect(await status('nonsense')).toBe(200)
})

test('a text in X-Forwarded-For that is no address is not the caller', () => {
  const proxies = parseNets('127.0.0.0/8,10.0.0.0/8')!
  const callers = ['unknown', 'unknown, 10.1.1.1', '192.0.2.1, unknown, 10.1.1.1'].map(forwarded =>
    callerIp('127.0.0.1', forwarded, proxies),
  )
  expect(callers).toEqual(['127.0.0.1', '10.1.1.1', '10.1.1.1'])
})

test('X-Forwarded-For of any other address is ignored', async () => {
  const service = await startTestService({ settings: { STENO_DENY_IPS: '192.0.2.0/24' } })
  const answer = await service.fetch('/v1/health', { headers: { 'X-Forwarded-For': '192.0.2.1' } })
  expect(answer.status).toBe(200)
})

steered('the checks run in the order of the contract', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'uploads.create=1' } })
  const ana = service.account('ana', { credit: 0 })
  const large = 'x'.repeat(limits.bodyBytesMax + 1)
  const code = async (headers: Record<string, string>, body: string) =>
    (await service.fetch('/v1/upload', { method: 'POST', headers, body })).body.error.code
  const key = { 'X-Api-Key': ana.key }
  const json = { 'Content-Type': 'application/json' }

  expect(await code({ 'Content-Type': 'text/plain' }, large)).toBe('INVALID_API_KEY')
  expect(await code({ ...key, 'Content-Type': 'text/plain' }, large)).toBe('PAYLOAD_TOO_LARGE')
  expect(await code({ ...key, 'Content-Type': 'text/plain' }, large)).toBe('RATE_LIMIT_EXCEEDED')
  service.later(limits.rateWindowMs)
  expect(await code({ ...key, 'Content-Type': 'text/plain', 'Idempotency-Key': '' }, '{')).toBe(
    'UNSUPPORTED_MEDIA_TYPE',
  )
  service.later(limits.rateWindowMs)
  expect(await code({ ...key, ...json }, '{')).toBe('INVALID_REQUEST')
  service.later(limits.rateWindowMs)
  expect(await code({ ...key, ...json }, '{"filename": "a.mp3"}')).toBe('ZERO_BALANCE')
})

test('a body needs the type application/json and a JSON object', async () => {
  const service = await startTestService(limited)
  const ana = service.account('ana')
  const wrong = await ana.post('/v1/upload', '{}', { 'Content-Type': 'text/plain' })
  expect([wrong.status, wrong.body.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  expect(wrong.headers.get('accept-post')).toBe('application/json')
  expect(
    (
      await ana.post('/v1/upload', '{"filename":"a.mp3"}', {
        'Content-Type': 'Application/JSON; charset=utf-8',
      })
    ).status,
  ).toBe(200)
  expect((await ana.post('/v1/upload')).body.error.code).toBe('INVALID_REQUEST')
  expect((await ana.post('/v1/upload', '[]')).body.error.code).toBe('INVALID_REQUEST')
  expect((await ana.post('/v1/upload', 'null')).body.error.code).toBe('INVALID_REQUEST')
})

test('a compressed body is refused, and an encoding that is no compression is ignored', async () => {
  const service = await startTestService(limited)
  const ana = service.account('ana')
  const send = (coding: string) =>
    ana.post('/v1/upload', '{"filename":"a.mp3"}', {
      'Content-Type': 'application/json',
      'Content-Encoding': coding,
    })
  for (const coding of ['gzip', 'BR', 'identity, zstd']) {
    const answer = await send(coding)
    expect([answer.status, answer.body.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    expect(answer.body.error.message).toContain('Content-Encoding')
    expect(answer.headers.get('accept-encoding')).toBe('identity')
  }
  for (const coding of ['identity', 'utf-8', '']) expect((await send(coding)).status).toBe(200)
})

test('a body is parsed without more fields, elements and levels than a valid body can have', () => {
  const parsed = (body: object) => parseBody(Buffer.from(JSON.stringify(body)))
  const many = (length: number) => Array.from({ length }, (_, index) => index)
  const metadata = Object.fromEntries(many(limits.objectFieldsMax + 2).map(index => [`f${index}`, {}]))
  expect(Object.keys((parsed({ metadata }) as { metadata: object }).metadata)).toHaveLength(
    limits.objectFieldsMax + 1,
  )
  expect(Object.keys(parsed(metadata))).toHaveLength(limits.objectFieldsMax + 1)
  expect(parsed({ vocabulary: many(limits.editedUtterancesMax + 2) })).toEqual({
    vocabulary: many(limits.editedUtterancesMax + 1),
  })
  expect(parsed({ filename: { a: 1 }, utterances: [{ text: { a: 1 } }] })).toEqual({
    filename: {},
    utterances: [{ text: {} }],
  })
})

test('a body that is not UTF-8 is refused', () => {
  expect(() => parseBody(Buffer.from('{"filename":"\u00e4.mp3"}', 'latin1'))).toThrow('not valid JSON')
})

test('an object in a text field is refused, even if it cannot be converted to a text', async () => {
  const service = await startTestService(limited)
  const ana = service.account('ana')
  for (const filename of [{}, { toString: null }, [{ toString: null }]]) {
    const { status, body } = await ana.post('/v1/upload', { filename })
    expect([filename, status, body.error.code]).toEqual([filename, 400, 'INVALID_FILENAME'])
  }
})

test('a body over 100 KB is refused, declared or not', async () => {
  const service = await startTestService(limited)
  const ana = service.account('ana')
  const large = JSON.stringify({ filename: 'x'.repeat(limits.bodyBytesMax) })
  for (const path of ['/v1/upload', '/v1/voices']) {
    const declared = await ana.post(path, large)
    expect([path, declared.status, declared.body.error.code]).toEqual([path, 413, 'PAYLOAD_TOO_LARGE'])
  }
  const streamed = await service.fetch('/v1/upload', {
    method: 'POST',
    headers: { 'X-Api-Key': ana.key, 'Content-Type': 'application/json' },
    body: new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(large))
        controller.close()
      },
    }),
  })
  expect([streamed.status, streamed.body.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
})

test('cancel and delete ignore a body', async () => {
  const service = await startTestService(limited)
  const ana = service.account('ana')
  const cancel = await ana.post('/v1/transcribe/x/cancel', 'what is this', { 'Content-Type': 'text/plain' })
  expect(cancel.body.error.code).toBe('TRANSCRIPTION_NOT_FOUND')
})

function policy(rate: keyof typeof rates): string {
  return `"endpoint";q=${rates[rate]};w=${windowSeconds}, "ip";q=${rates.ip};w=${windowSeconds}`
}

function headersOf({ headers }: Answer): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name === 'link' || name.includes('ratelimit')))
}

steered('the callers of one IPv6 network of 64 bits share a quota', async () => {
  const service = await startTestService({
    settings: { STENO_RATE_LIMITS: 'service=2', STENO_TRUST_PROXY: '127.0.0.0/8' },
  })
  const statusFor = async (ip: string) =>
    (await service.fetch('/v1', { headers: { 'X-Forwarded-For': ip } })).status
  expect(await statusFor('2001:db8:1:2::1')).toBe(200)
  expect(await statusFor('2001:db8:1:2:ffff::7')).toBe(200)
  expect(await statusFor('2001:db8:1:2:a::9')).toBe(429)
  expect(await statusFor('2001:db8:1:3::1')).toBe(200)
  expect(await statusFor('192.0.2.1')).toBe(200)
  expect(await statusFor('192.0.2.1')).toBe(200)
  expect(await statusFor('192.0.2.1')).toBe(429)
  expect(await statusFor('::ffff:192.0.2.2')).toBe(200)
})
