// Tests the token endpoint, the revocation endpoint and access tokens (RFC 6749, RFC 6750, RFC 7009, RFC 7636,
// RFC 8707, RFC 9700).

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApp } from '../../src/api/app.ts'
import type { Service } from '../../src/api/service.ts'
import { limits, rates } from '../../src/limits.ts'
import { challenge, flow, redirectUri, registerClient, startOAuth, verifier } from '../support/oauth.ts'
import { type Answer, marginMs, shareServices, steered } from '../support/service.ts'

shareServices()

function expectError(answer: Answer, error: string, status = 400): void {
  expect([answer.status, answer.body?.error]).toEqual([status, error])
  expect(answer.body.error_description).toBeString()
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
}

test('a code gives tokens, and the access token works for the whole API', async () => {
  const { account, getCode, exchange, call } = await startOAuth()
  const { status, body, headers } = await exchange(await getCode())
  expect([status, headers.get('cache-control'), headers.get('pragma')]).toEqual([200, 'no-store', 'no-cache'])
  expect(body).toEqual({
    access_token: expect.stringMatching(/^sto_[\w-]{43}$/),
    token_type: 'Bearer',
    expires_in: 3600,
    refresh_token: expect.stringMatching(/^str_[\w-]{43}$/),
    scope: 'read write',
  })
  const id = await account.transcribe()
  for (const path of ['/v1/balance', `/v1/transcribe/${id}`])
    expect((await call(body.access_token, path)).status).toBe(200)
  expect((await call(body.access_token, '/v1/transcriptions')).body.items[0].id).toBe(id)
})

test('a parameter without a value counts as missing', async () => {
  const { service, cookie: Cookie, client, params, getCode } = await startOAuth()
  const { client_id } = client.body
  const empty = { scope: '', resource: '', redirect_uri: '', client_secret: '' }
  const asked = `${params({ redirect_uri: '', state: '' })}&request=&response_mode=&${new URLSearchParams(empty)}`
  const page = await service.fetch(`/oauth/authorize?${asked}`, { headers: { Cookie } })
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('value="allow"')])
  const getTokens = async (fields: Record<string, string>) => {
    const body = new URLSearchParams({ client_id, ...fields, ...empty })
    return (await service.fetch('/oauth/token', { method: 'POST', body })).body
  }
  const code = await getCode()
  const first = await getTokens({ grant_type: 'authorization_code', code, code_verifier: verifier })
  expect(first.scope).toBe('read write')
  const { refresh_token } = first
  expect((await getTokens({ grant_type: 'refresh_token', refresh_token })).scope).toBe('read write')
})

test('a code that comes twice ends its grant, also when both requests come at once', async () => {
  const { service, account, getCode, exchange, refresh, call } = await startOAuth()
  const code = await getCode()
  const { access_token, refresh_token } = (await exchange(code)).body
  expect((await call(access_token)).status).toBe(200)
  expectError(await exchange(code), 'invalid_grant')
  expect((await call(access_token)).status).toBe(401)
  expectError(await refresh(refresh_token), 'invalid_grant')

  const another = await getCode()
  const both = await Promise.all([exchange(another), exchange(another)])
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400])
  const won = both.find(({ status }) => status === 200)
  expect((await call(won?.body.access_token)).status).toBe(401)
  const query =
    'select hash from grant_tokens join grants on grants.id = grant_id where grants.account_id = $id'
  expect(service.db.list(query, { id: account.id })).toEqual([])
})

test('a code that was used is replayed without the verifier, and still ends its grant', async () => {
  const { getCode, exchange, call } = await startOAuth()
  const code = await getCode()
  const { access_token } = (await exchange(code)).body
  expectError(await exchange(code, { code_verifier: 'x'.repeat(43) }), 'invalid_grant')
  expect((await call(access_token)).status).toBe(401)
})

test('a refresh token gives the next tokens, and a second use ends the grant', async () => {
  const { getTokens, refresh, call } = await startOAuth()
  const first = await getTokens()
  const { status, body: second } = await refresh(first.refresh_token)
  expect(status).toBe(200)
  expect(second.refresh_token).not.toBe(first.refresh_token)
  const { body: third } = await refresh(second.refresh_token)
  for (const { access_token } of [first, second, third]) expect((await call(access_token)).status).toBe(200)
  expectError(await refresh(first.refresh_token), 'invalid_grant')
  for (const { access_token } of [first, second, third]) expect((await call(access_token)).status).toBe(401)
  expectError(await refresh(third.refresh_token), 'invalid_grant')
})

test('of two uses of a refresh token at once one is refused, and the grant ends', async () => {
  const { getTokens, refresh, call } = await startOAuth()
  const { refresh_token } = await getTokens()
  const both = await Promise.all([refresh(refresh_token), refresh(refresh_token)])
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400])
  for (const { body } of both) if (body.access_token) expect((await call(body.access_token)).status).toBe(401)
})

test('one grant that ends leaves the other grants of the account', async () => {
  const { getTokens, refresh, call } = await startOAuth()
  const [one, other] = [await getTokens(), await getTokens()]
  await refresh(one.refresh_token)
  await refresh(one.refresh_token)
  expect((await call(one.access_token)).status).toBe(401)
  expect((await call(other.access_token)).status).toBe(200)
})

test('a refused exchange leaves the code and the refresh token as they were', async () => {
  const { service, cookie, getCode, exchange, refresh, post } = await startOAuth()
  const other = flow(service, { cookie, clientId: (await registerClient(service)).body.client_id })
  const code = await getCode({ resource: `${service.url}/mcp`, scope: 'read' })
  expectError(await exchange(code, { redirect_uri: 'https://elsewhere.example/' }), 'invalid_grant')
  expectError(await exchange(code, { redirect_uri: `${redirectUri}?` }), 'invalid_grant')
  expectError(await exchange(code, { code_verifier: 'x'.repeat(43) }), 'invalid_grant')
  expectError(await exchange(code, { code_verifier: challenge }), 'invalid_grant')
  expectError(await exchange(code, { code_verifier: '' }), 'invalid_request')
  expectError(await exchange(code, { resource: service.url }), 'invalid_target')
  expectError(await exchange(code, { resource: 'https://elsewhere.example/' }), 'invalid_target')
  expectError(await other.exchange(code), 'invalid_grant')
  expectError(await exchange(code, { client_secret: 'x' }), 'invalid_client', 401)
  const { status, body } = await exchange(code, { resource: `${service.url}/mcp` })
  expect([status, body.scope]).toEqual([200, 'read'])

  expectError(await refresh(body.refresh_token, { scope: 'read write' }), 'invalid_scope')
  expectError(await refresh(body.refresh_token, { scope: 'admin' }), 'invalid_scope')
  expectError(await refresh(body.refresh_token, { resource: service.url }), 'invalid_target')
  expectError(await other.refresh(body.refresh_token), 'invalid_grant')
  expectError(await refresh(body.access_token), 'invalid_grant')
  const empty = { grant_type: 'refresh_token', client_id: 'x', refresh_token: body.refresh_token }
  expectError(await post('/oauth/token', empty), 'invalid_client', 401)
  expect((await refresh(body.refresh_token)).status).toBe(200)
})

test('a public client with PKCE need not repeat its address', async () => {
  const { getCode, exchange } = await startOAuth()
  expect((await exchange(await getCode(), { redirect_uri: '' })).status).toBe(200)
})

test('a refresh may ask for less, and the next refresh token keeps all granted scopes', async () => {
  const { getTokens, refresh, call } = await startOAuth()
  const { refresh_token } = await getTokens()
  const { body: less } = await refresh(refresh_token, { scope: 'read' })
  expect(less.scope).toBe('read')
  const cancel = (token: string) => call(token, '/v1/transcribe/x/cancel', { method: 'POST' })
  expect((await cancel(less.access_token)).status).toBe(403)
  const { body: all } = await refresh(less.refresh_token)
  expect(all.scope).toBe('read write')
  expect((await cancel(all.access_token)).status).toBe(404)
})

test('a scope allows its methods on every route, and no other ones', async () => {
  const { service, getTokens } = await startOAuth()
  const document = (await service.fetch('/v1/openapi.json')).body
  const routes = Object.entries<Record<string, { security: object[] }>>(document.paths).flatMap(
    ([path, methods]) =>
      Object.entries(methods)
        .filter(([, { security }]) => security.length > 0)
        .map(([method]) => [method.toUpperCase(), path] as const),
  )
  expect(routes.length).toBeGreaterThan(6)
  const [reader, writer] = [await getTokens({ scope: 'read' }), await getTokens({ scope: 'write' })]
  for (const [method, path] of routes) {
    const needed = ['GET', 'HEAD'].includes(method) ? 'read' : 'write'
    for (const { access_token, scope } of [reader, writer]) {
      const { status, headers } = await fetch(`${service.url}${path.replace(/\{\w+\}/g, 'x')}`, {
        method,
        headers: { Authorization: `Bearer ${access_token}` },
      })
      const refused = `Bearer error="insufficient_scope", scope="${scope} ${needed}", resource_metadata="${service.url}/.well-known/oauth-protected-resource"`
      const isRefused = headers.get('www-authenticate') === refused && status === 403
      expect([method, path, scope, isRefused]).toEqual([method, path, scope, scope !== needed])
    }
  }
})

test('an access token is no session: calls of the dashboard refuse it', async () => {
  const { getTokens, call } = await startOAuth()
  const { access_token } = await getTokens()
  for (const path of ['/app/session', '/app/grants'])
    expect((await call(access_token, path)).body.error.code).toBe('SESSION_ENDED')
})

test('a token that is unknown gets 401 and the error of RFC 6750', async () => {
  const { service, getTokens, call } = await startOAuth()
  const { access_token, refresh_token } = await getTokens()
  for (const token of ['sto_unknown', `${access_token}x`, 'sto_']) {
    const { status, body, headers } = await call(token)
    expect([token, status, body.error.code]).toEqual([token, 401, 'INVALID_TOKEN'])
    expect(headers.get('www-authenticate')).toBe(
      `Bearer error="invalid_token", resource_metadata="${service.url}/.well-known/oauth-protected-resource"`,
    )
  }
  expect((await call(refresh_token)).status).toBe(401)
})

test('a wrong token request gets the error of RFC 6749', async () => {
  const { service, client, post, exchange } = await startOAuth()
  const { client_id } = client.body
  const token = (fields: Record<string, string>) => post('/oauth/token', fields)
  expectError(await token({}), 'invalid_request')
  expectError(await token({ client_id }), 'invalid_request')
  expectError(await token({ grant_type: 'authorization_code' }), 'invalid_request')
  expectError(await token({ client_id, grant_type: 'authorization_code' }), 'invalid_request')
  expectError(await token({ client_id, grant_type: 'refresh_token' }), 'invalid_request')
  for (const grant_type of ['password', 'client_credentials', 'implicit', 'Authorization_Code'])
    expectError(await token({ client_id, grant_type }), 'unsupported_grant_type')
  expectError(await token({ client_id: 'unknown', grant_type: 'refresh_token' }), 'invalid_client', 401)
  expectError(await exchange('stc_unknown'), 'invalid_grant')

  const raw = (body: string, headers: Record<string, string> = {}) =>
    service.fetch('/oauth/token', {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      body,
    })
  const twice = `client_id=${client_id}&grant_type=refresh_token&refresh_token=a&refresh_token=b`
  expectError(await raw(twice), 'invalid_request')
  expectError(await raw('{}', { 'Content-Type': 'application/json' }), 'invalid_request')
  expectError(await raw(`a=${'x'.repeat(limits.bodyBytesMax)}`), 'invalid_request')
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`).join('&')
  expect((await raw(fields(limits.formFieldsMax))).body.error_description).toBe('client_id is missing.')
  const { body } = await raw(fields(limits.formFieldsMax + 1))
  expect(body.error_description).toBe(`The form has more than ${limits.formFieldsMax} fields.`)
  const basic = await raw(twice.replace('&refresh_token=b', ''), {
    Authorization: `Basic ${btoa(`${client_id}:`)}`,
  })
  expectError(basic, 'invalid_client', 401)
  expect(basic.headers.get('www-authenticate')).toBe('Basic realm="OAuth"')
  const get = await service.fetch(`/oauth/token?${twice}`)
  expect([get.status, get.headers.get('allow'), get.body.error]).toEqual([
    405,
    expect.stringContaining('POST'),
    'invalid_request',
  ])
})

test('a revoked access token ends alone, a revoked refresh token ends the grant', async () => {
  const { service, cookie, getTokens, refresh, revoke, post, call, client } = await startOAuth()
  const one = await getTokens()
  const revoked = await revoke(one.access_token, { token_type_hint: 'refresh_token' })
  expect([revoked.status, revoked.text]).toEqual([200, ''])
  expect((await call(one.access_token)).status).toBe(401)
  const { body: next } = await refresh(one.refresh_token)
  expect((await call(next.access_token)).status).toBe(200)

  const other = flow(service, { cookie, clientId: (await registerClient(service)).body.client_id })
  expect((await other.revoke(next.refresh_token)).status).toBe(200)
  expect((await other.revoke(next.access_token)).status).toBe(200)
  expect((await call(next.access_token)).status).toBe(200)

  expect((await revoke(next.refresh_token, { token_type_hint: 'unknown' })).status).toBe(200)
  expect((await call(next.access_token)).status).toBe(401)
  expectError(await refresh(next.refresh_token), 'invalid_grant')
  for (const unknown of ['x', next.refresh_token]) expect((await revoke(unknown)).status).toBe(200)

  const { client_id } = client.body
  expectError(await post('/oauth/revoke', { client_id }), 'invalid_request')
  expectError(await post('/oauth/revoke', { token: 'x' }), 'invalid_request')
  expectError(await post('/oauth/revoke', { token: 'x', client_id: 'unknown' }), 'invalid_client', 401)
  expectError(await revoke('x', { client_secret: 'y' }), 'invalid_client', 401)
})

test('an address may ask for tokens ten times a minute', async () => {
  const { exchange, revoke } = await startOAuth({ STENO_RATE_LIMITS: 'on' })
  for (let count = 0; count < rates['oauth.token']; count++) expectError(await exchange('x'), 'invalid_grant')
  expectError(await exchange('x'), 'too_many_requests', 429)
  for (let count = 0; count < rates['oauth.revoke']; count++) expect((await revoke('x')).status).toBe(200)
  expectError(await revoke('x'), 'too_many_requests', 429)
})

test('each client of an account has a quota of its own', async () => {
  const { getTokens, refresh, call } = await startOAuth({ STENO_RATE_LIMITS: 'balance.get=2' })
  const [one, other] = [await getTokens(), await getTokens()]
  const { body: next } = await refresh(one.refresh_token)
  const statuses: number[] = []
  for (const { access_token } of [one, next, one, other]) statuses.push((await call(access_token)).status)
  expect(statuses).toEqual([200, 200, 429, 200])
})

test('the database holds no code, token or verifier', async () => {
  const { service, getCode, exchange, refresh } = await startOAuth({}, { alone: true })
  const code = await getCode()
  const first = (await exchange(code)).body
  const next = (await refresh(first.refresh_token)).body
  await service.stop()
  const files = [...new Bun.Glob('steno.db*').scanSync(service.dataDir)]
  const bytes = Buffer.concat(files.map(file => readFileSync(join(service.dataDir, file))))
  const secrets = [
    code,
    verifier,
    first.access_token,
    first.refresh_token,
    next.access_token,
    next.refresh_token,
  ]
  expect(secrets.filter(secret => bytes.includes(secret.replace(/^st._/, '')))).toEqual([])
  expect(bytes.includes(challenge)).toBe(true)
})

steered(
  'an access token is valid for an hour, a refresh token for 30 days, a code for a minute',
  async () => {
    const { service, getCode, exchange, refresh, call } = await startOAuth()
    const code = await getCode()
    service.later(limits.codeTtlMs - marginMs)
    const { body } = await exchange(code)
    service.later(limits.accessTokenTtlMs - marginMs)
    expect((await call(body.access_token)).status).toBe(200)
    service.later(marginMs)
    expect((await call(body.access_token)).body.error.code).toBe('INVALID_TOKEN')
    service.later(limits.refreshTokenTtlMs - limits.accessTokenTtlMs - 2 * marginMs)
    const { body: next } = await refresh(body.refresh_token)
    expect((await call(next.access_token)).status).toBe(200)
    service.later(limits.refreshTokenTtlMs)
    expectError(await refresh(next.refresh_token), 'invalid_grant')
    expect(service.db.list('select * from grant_tokens')).toEqual([])
  },
)

steered('a token that expires while a body arrives is still accepted, but a revoked one is not', async () => {
  const { service, getTokens, revoke } = await startOAuth()
  const app = openApp(service as unknown as Service)
  const submit = async (token: string, meanwhile: () => Promise<unknown>) => {
    const pull = async (controller: ReadableStreamDefaultController) => {
      await meanwhile()
      controller.enqueue(new TextEncoder().encode('{"filename":"a.mp3"}'))
      controller.close()
    }
    const request = new Request(`${service.url}/v1/upload`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      // With a `highWaterMark` of 0, the stream calls `pull` only when the server reads the body, and `pull` calls
      // `meanwhile`. So `meanwhile` is called after the server has checked the headers.
      body: new ReadableStream({ pull }, { highWaterMark: 0 }),
    })
    return (await app.handle(request)).status
  }
  const [{ access_token: revoked }, { access_token: expired }] = [await getTokens(), await getTokens()]
  expect(await submit(revoked, () => revoke(revoked))).toBe(401)
  expect(await submit(expired, async () => service.later(limits.accessTokenTtlMs))).toBe(200)
  expect(await submit(expired, async () => {})).toBe(401)
  const { access_token: both, refresh_token } = await getTokens()
  const expireAndRevoke = () => {
    service.later(limits.accessTokenTtlMs)
    return revoke(refresh_token)
  }
  expect(await submit(both, expireAndRevoke)).toBe(401)
})

steered('beyond fifty grants of an account the least used one ends', async () => {
  const { service, getTokens, call } = await startOAuth()
  const [first, second] = [await getTokens(), await getTokens()]
  service.later(limits.sessionUseEveryMs)
  expect((await call(first.access_token)).status).toBe(200)
  for (let count = 2; count <= limits.grantsMax; count++) await getTokens()
  expect((await call(first.access_token)).status).toBe(200)
  expect((await call(second.access_token)).status).toBe(401)
  // If an account gets more than `grantsMax` grants, the grant with the earliest last use is normally deleted. The
  // clock steps back, so the last uses of the older grants are now in the future. A new grant then has the earliest
  // last use, but it must not be deleted.
  service.stepClock(-24 * 3_600_000)
  const later = [await getTokens(), await getTokens()]
  for (const { access_token } of later) expect((await call(access_token)).status).toBe(200)
})
