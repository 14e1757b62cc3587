// Tests the metadata of OAuth (RFC 8414 and RFC 9728) and the registration of clients (RFC 7591 and RFC 8252).

import { expect, test } from 'bun:test'
import { limits, rates } from '../../src/limits.ts'
import { flow, redirectUri, registerClient, signIn } from '../support/oauth.ts'
import { marginMs, shareServices, startTestService, steered } from '../support/service.ts'

shareServices()

test('the metadata names every endpoint and what is supported, for pages of any origin', async () => {
  const service = await startTestService()
  const { url } = service
  const server = await service.fetch('/.well-known/oauth-authorization-server')
  expect(server.body).toEqual({
    issuer: url,
    authorization_endpoint: `${url}/oauth/authorize`,
    token_endpoint: `${url}/oauth/token`,
    registration_endpoint: `${url}/oauth/register`,
    revocation_endpoint: `${url}/oauth/revoke`,
    scopes_supported: ['read', 'write'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${url}/docs`,
  })
  for (const [path, resource] of [
    ['/.well-known/oauth-protected-resource', url],
    ['/.well-known/oauth-protected-resource/mcp', `${url}/mcp`],
  ] as const) {
    const { body, headers } = await service.fetch(path)
    expect(body).toEqual({
      resource,
      authorization_servers: [url],
      scopes_supported: ['read', 'write'],
      bearer_methods_supported: ['header'],
      resource_name: 'steno',
      resource_documentation: `${url}/docs`,
    })
    expect(headers.get('content-type')).toStartWith('application/json')
    expect(headers.get('access-control-allow-origin')).toBe('*')
  }
})

test('a browser may send requests of any origin to the endpoints that need no cookie', async () => {
  const service = await startTestService()
  const ask = (path: string) =>
    service.fetch(path, { method: 'OPTIONS', headers: { Origin: 'https://elsewhere.example' } })
  for (const path of [
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/oauth/register',
    '/oauth/token',
    '/oauth/revoke',
  ]) {
    const { status, headers } = await ask(path)
    expect([path, status, headers.get('access-control-allow-origin')]).toEqual([path, 204, '*'])
    expect(headers.get('access-control-allow-headers')).toContain('*')
    expect(headers.get('access-control-allow-methods')).toBe(path.startsWith('/oauth') ? 'POST' : 'GET')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  }
  const consent = await ask('/oauth/authorize')
  expect([consent.status, consent.headers.get('access-control-allow-origin')]).toEqual([405, null])
})

test('a client registers itself and gets an id without a secret', async () => {
  const service = await startTestService()
  const { status, body, headers } = await registerClient(service, {
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
    response_types: ['code', 'id_token'],
    scope: 'openid read',
    logo_uri: 'https://probe.example/logo.png',
    contacts: [{ nested: true }],
  })
  expect([status, headers.get('cache-control')]).toEqual([201, 'no-store'])
  expect(body).toEqual({
    client_id: expect.stringMatching(/^[\w-]{36}$/),
    client_id_issued_at: expect.any(Number),
    client_name: 'Probe',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    scope: 'read write',
  })
  expect(Math.abs(body.client_id_issued_at - Date.now() / 1000)).toBeLessThan(60)
  const plain = await registerClient(service)
  expect([plain.status, plain.body.token_endpoint_auth_method]).toEqual([201, 'none'])
})

const good = [
  'https://probe.example/callback',
  'https://probe.example',
  'https://probe.example:8443/a?b=c&d=%20',
  'http://127.0.0.1/callback',
  'http://127.0.0.1:5000/callback',
  'http://[::1]:5000/callback',
  'http://localhost:5000/callback',
  'com.example.app:/callback',
  'com.example.app://callback',
  'cursor://anysphere.cursor-mcp/oauth/callback',
]
test.each(good)('%s may be registered', async uri => {
  const service = await startTestService()
  const { status, body } = await registerClient(service, { redirect_uris: [uri] })
  expect([status, body.redirect_uris]).toEqual([201, [uri]])
})

const bad = [
  'http://probe.example/callback',
  'http://127.0.0.1.probe.example/callback',
  'http://127.0.0.1@probe.example/callback',
  'http://localhost.probe.example/callback',
  'http://10.0.0.1/callback',
  'https://probe.example/callback#',
  'https://probe.example/callback#fragment',
  'https://user@probe.example/callback',
  'https://user:password@probe.example/callback',
  'https://:password@probe.example/callback',
  'https:probe.example/callback',
  'https:///probe.example/callback',
  'https://probe.example\\@elsewhere.example/',
  'https://probe.example/a b',
  'https://probe.example/\r\nSet-Cookie: a=b',
  'https://pröbe.example/',
  ' https://probe.example/',
  '//probe.example/callback',
  '/callback',
  'callback',
  '',
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'myapp://callback',
  'about:blank',
  `https://probe.example/${'x'.repeat(limits.urlLengthMax)}`,
]
test('an address that is not safe to return to is refused', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
  const lists = [
    [],
    Array(3).fill(`https://probe.example/${'x'.repeat(limits.urlLengthMax - 100)}`),
    'https://probe.example/',
    null,
    7,
    [7],
    [{}],
    [['https://probe.example/']],
    Array(11).fill(good[0]),
  ]
  for (const redirect_uris of [...bad.map(uri => [uri]), ...bad.map(uri => [redirectUri, uri]), ...lists]) {
    const { status, body } = await registerClient(service, { redirect_uris })
    expect([redirect_uris, status, body?.error]).toEqual([redirect_uris, 400, 'invalid_redirect_uri'])
  }
})

test('a registration with unsupported metadata is refused, and every error has the shape of OAuth', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
  for (const metadata of [
    { grant_types: ['password'] },
    { grant_types: ['client_credentials'] },
    { grant_types: 'authorization_code' },
    { grant_types: [] },
    { response_types: ['token'] },
    { response_types: [] },
    { token_endpoint_auth_method: 'private_key_jwt' },
    { token_endpoint_auth_method: 7 },
  ]) {
    const { status, body, headers } = await registerClient(service, metadata)
    expect([metadata, status, body.error]).toEqual([metadata, 400, 'invalid_client_metadata'])
    expect(headers.get('cache-control')).toBe('no-store')
  }
  const post = (body: string, type = 'application/json') =>
    service.fetch('/oauth/register', { method: 'POST', headers: { 'Content-Type': type }, body })
  for (const answer of [
    await post('{'),
    await post('[]'),
    await post('null'),
    await post(''),
    await post('{}', 'text/plain'),
    await post(`{"client_name":"${'x'.repeat(limits.bodyBytesMax)}"}`),
  ]) {
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_client_metadata'])
    expect(answer.body.error_description).toBeString()
  }
})

test('the name of a client cannot forge the consent page', async () => {
  const service = await startTestService()
  const { key } = service.account('ana')
  const cookie = await signIn(service, key)
  const shown = async (client_name: unknown) => {
    const { body } = await registerClient(service, { client_name })
    const { text } = await flow(service, { cookie, clientId: body.client_id }).open()
    return [body.client_name, /<strong>(.*?)<\/strong> asks/s.exec(text)?.[1]]
  }
  expect(await shown('<script>alert(1)</script>')).toEqual([
    '<script>alert(1)</script>',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
  ])
  expect(await shown('Bank\u202Egnp.exe\n\u0000\u200B')).toEqual(['Bankgnp.exe', 'Bankgnp.exe'])
  expect((await shown('💥'.repeat(200)))[0]).toBe('💥'.repeat(limits.clientNameLengthMax))
  for (const missing of [undefined, 7, ' ', '\u200B']) {
    expect(await shown(missing)).toEqual(['A program without a name', 'A program without a name'])
  }
})

test('an address may register ten clients a minute', async () => {
  const service = await startTestService({ alone: true })
  for (let count = 0; count < rates['oauth.register']; count++)
    expect((await registerClient(service)).status).toBe(201)
  const refused = await registerClient(service)
  expect([refused.status, refused.body.error]).toEqual([429, 'too_many_requests'])
  expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61)
  expect(refused.headers.get('access-control-allow-origin')).toBe('*')
})

steered(
  'a client without a grant is forgotten 60 days after its last use, or 7 days after its registration',
  async () => {
    const service = await startTestService()
    const cookie = await signIn(service, service.account('ana').key)
    const { client_id: unused } = (await registerClient(service)).body
    const { client_id: used } = (await registerClient(service)).body
    const ana = flow(service, { cookie, clientId: used })
    const { refresh_token } = await ana.getTokens()
    const dayMs = 24 * 3600 * 1000
    const isKnown = async (client_id: string) =>
      (await service.fetch(`/oauth/authorize?client_id=${client_id}&redirect_uri=${redirectUri}`)).status ===
      302
    service.later(limits.clientUnusedMs - marginMs)
    expect(await isKnown(unused)).toBe(true)
    service.later(marginMs)
    expect(await Promise.all([unused, used].map(isKnown))).toEqual([false, true])
    service.later(28 * dayMs - limits.clientUnusedMs)
    const { client_id: allowed } = (await registerClient(service)).body
    service.later(dayMs)
    expect((await ana.refresh(refresh_token)).status).toBe(200)
    await flow(service, { cookie, clientId: allowed }).getCode()
    service.later(limits.clientKeptMs - 29 * dayMs)
    expect(service.db.list('select * from grants')).toEqual([])
    expect(await Promise.all([used, allowed].map(isKnown))).toEqual([true, true])
    service.later(29 * dayMs)
    expect(await isKnown(used)).toBe(false)
  },
)
