// Tests authorization requests and the consent page (RFC 6749, RFC 7636, RFC 8252, RFC 8707, RFC 9207, RFC 9700).

import { expect, test } from 'bun:test'
import { createAccount } from '../../src/accounts/account.ts'
import { limits, rates } from '../../src/limits.ts'
import { challenge, flow, redirectUri, registerClient, signIn, startOAuth } from '../support/oauth.ts'
import { password, passwordHash } from '../support/password.ts'
import {
  type Answer,
  shareServices,
  startTestService,
  steered,
  type TestService,
} from '../support/service.ts'

shareServices()

/**
 * Checks that the response redirects the browser to the OAuth client's redirect address. Returns the query parameters.
 */
function answerIn({ headers }: Answer): Record<string, string> {
  const location = headers.get('location') ?? ''
  expect(location).toStartWith(`${redirectUri}?`)
  return Object.fromEntries(new URL(location).searchParams)
}

function grantsOf({ db }: TestService, { id }: { id: string }): unknown[] {
  return db.list('select * from grants where account_id = $id', { id })
}

function expectNoRedirect({ status, headers, text }: Answer): void {
  expect([status, headers.get('location')]).toEqual([400, null])
  expect(headers.get('content-type')).toStartWith('text/html')
  expect(text).not.toContain('<form')
}

test('a person who is signed in allows the access, and the client gets a code', async () => {
  const { service, account, open, submit } = await startOAuth()
  const page = await open({ scope: 'read' })
  expect(page.status).toBe(200)
  expect(page.text).toContain('<strong>Probe</strong> asks')
  expect(page.text).toContain(account.email)
  expect(page.text).toContain('read your transcriptions')
  expect(page.text).not.toContain('spends your balance')
  expect(page.text).not.toContain('<script')
  const allowed = await submit({ decision: 'allow', scope: 'read' })
  expect([allowed.status, allowed.headers.get('cache-control')]).toEqual([303, 'no-store'])
  expect(allowed.headers.get('referrer-policy')).toBe('no-referrer')
  expect(answerIn(allowed)).toEqual({
    code: expect.stringMatching(/^stc_[\w-]{43}$/),
    state: 'a state',
    iss: service.url,
  })
})

test('a person who denies the access sends an error to the client', async () => {
  const { service, account, submit } = await startOAuth()
  for (const headers of [{ Origin: service.url }, { 'Sec-Fetch-Site': 'same-origin' }]) {
    const denied = await submit({ decision: 'deny' }, headers as Record<string, string>)
    expect(denied.status).toBe(303)
    expect(answerIn(denied)).toEqual({ error: 'access_denied', state: 'a state', iss: service.url })
  }
  expect(grantsOf(service, account)).toEqual([])
})

test('the page runs nothing, loads nothing, and no other page can show it', async () => {
  const { open } = await startOAuth()
  const state = '"><script>alert(1)</script>'
  for (const page of [await open({ state }), await open({ state }, {}), await open({ client_id: 'x' })]) {
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    const style = /<style>(.*?)<\/style>/s.exec(page.text)?.[1] ?? ''
    const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64')
    expect(policy).toContain(`style-src 'sha256-${hash}'`)
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    expect(page.headers.get('referrer-policy')).toBe('same-origin')
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.text).not.toMatch(/<script|<img|<link|\son\w+=|\sstyle=|https?:\/\/(?!127\.0\.0\.1)/)
  }
})

test('a person who is not signed in signs in on the page, with a password or a key', async () => {
  const { service, account, submit, open, params } = await startOAuth()
  const eve = service.email('eve')
  createAccount(service.db, { email: eve, passwordHash, verified: true })
  const page = await open({}, {})
  expect(page.text).toContain('name="password"')
  expect(page.text).not.toContain('value="allow"')
  const headers = { Origin: service.url }
  for (const [credentials, email] of [
    [{ email: eve, password }, eve],
    [{ key: account.key }, account.email],
  ] as const) {
    const signedIn = await submit({ decision: 'sign-in', ...credentials }, headers)
    const location = new URL(signedIn.headers.get('location') ?? '')
    expect([signedIn.status, location.pathname]).toEqual([303, '/oauth/authorize'])
    expect(signedIn.headers.get('cache-control')).toBe('no-store')
    expect(Object.fromEntries(location.searchParams)).toEqual(Object.fromEntries(params()))
    const Cookie = /^[^;]+/.exec(signedIn.headers.get('set-cookie') ?? '')![0]
    const consent = await service.fetch(location.pathname + location.search, { headers: { Cookie } })
    expect(consent.text).toContain(email)
    expect((await service.fetch('/app/session', { headers: { Cookie } })).body.email).toBe(email)
  }
})

test('a wrong sign-in shows the form again, and opens no session', async () => {
  const { service, submit } = await startOAuth()
  for (const wrong of [{ key: 'sk_live_x' }, { email: 'ana@example.org', password: 'x' }, {}]) {
    const page = await submit({ decision: 'sign-in', ...wrong }, { Origin: service.url })
    expect([page.status, page.headers.get('set-cookie'), page.headers.get('location')]).toEqual([
      400,
      null,
      null,
    ])
    expect(page.text).toContain('role="alert"')
    expect(page.text).toContain(`value="${challenge}"`)
  }
})

test('without a session nothing is allowed', async () => {
  const { service, account, submit } = await startOAuth()
  for (const Cookie of ['', 'steno_session=unknown']) {
    const page = await submit({ decision: 'allow' }, { Cookie, Origin: service.url })
    expect([page.status, page.headers.get('location')]).toEqual([400, null])
    expect(page.text).toContain('name="password"')
  }
  expect(grantsOf(service, account)).toEqual([])
})

test('access is given only to the account that the page names', async () => {
  const { service, account, submit, open } = await startOAuth()
  const ben = service.account('ben')
  const Cookie = await signIn(service, ben.key)
  const named = /name="account" value="([^"]+)"/.exec((await open()).text)?.[1] ?? ''
  expect(named).toBe(account.id)
  const answer = await submit({ decision: 'allow', account: named }, { Cookie, Origin: service.url })
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining(ben.email)])
  expect([...grantsOf(service, account), ...grantsOf(service, ben)]).toEqual([])
  const again = await submit({ decision: 'allow', account: ben.id }, { Cookie, Origin: service.url })
  expect(again.status).toBe(303)
})

test('a person may use another account', async () => {
  const { submit } = await startOAuth()
  const page = await submit({ decision: 'switch' })
  expect(page.status).toBe(200)
  expect(page.text).toContain('name="password"')
})

test('a decision from another site is refused', async () => {
  const { service, account, cookie, submit } = await startOAuth()
  for (const headers of [
    {},
    { Origin: 'https://elsewhere.example' },
    { Origin: 'null' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site', Origin: service.url },
  ])
    for (const decision of ['allow', 'deny', 'sign-in', 'switch']) {
      const {
        status,
        headers: got,
        text,
      } = await submit({ decision }, { Cookie: cookie, ...headers } as never)
      expect([decision, status, got.get('location')]).toEqual([decision, 403, null])
      expect(text).toContain('<h1>')
    }
  expect(grantsOf(service, account)).toEqual([])
})

test('a form without a decision is refused', async () => {
  const { submit } = await startOAuth()
  for (const decision of ['', 'maybe']) expectNoRedirect(await submit({ decision }))
})

test('a browser that comes from another site loads the page once more, so that it sends its cookie', async () => {
  const { open, cookie, params } = await startOAuth()
  const first = await open({}, { 'Sec-Fetch-Site': 'cross-site' })
  const again = /content="0;url=([^"]+)"/.exec(first.text)?.[1]
  expect(again).toBe(`?${params()}`.replaceAll('&', '&amp;'))
  for (const site of ['same-origin', 'none'])
    expect((await open({}, { 'Sec-Fetch-Site': site })).text).toContain('name="password"')
  const consent = await open({}, { 'Sec-Fetch-Site': 'cross-site', Cookie: cookie })
  expect(consent.text).toContain('value="allow"')
})

test('a request of an unknown client, or with an address that it did not register, is not sent back', async () => {
  const { open, submit } = await startOAuth()
  for (const changes of [
    { client_id: 'unknown' },
    { client_id: '' },
    { redirect_uri: 'https://elsewhere.example/' },
    { redirect_uri: `${redirectUri}/` },
    { redirect_uri: `${redirectUri}?a=b` },
    { redirect_uri: redirectUri.toUpperCase() },
    { redirect_uri: 'http://127.0.0.1:9/other' },
    { redirect_uri: 'http://127.0.0.1:99999/callback' },
    { redirect_uri: 'http://localhost:9/callback' },
    { redirect_uri: 'https://127.0.0.1:9/callback' },
    { redirect_uri: 'http://127.0.0.1:9@elsewhere.example/callback' },
    { redirect_uri: 'http://127.0.0.1:9/x/../callback' },
    { redirect_uri: '//127.0.0.1:9/callback' },
    { redirect_uri: 'javascript:alert(1)' },
  ]) {
    expectNoRedirect(await open(changes))
    expectNoRedirect(await submit({ decision: 'allow', ...changes }))
    expectNoRedirect(await submit({ decision: 'deny', ...changes }))
  }
})

test('the port of a loopback address is free, every other part of an address is fixed', async () => {
  const { service, cookie } = await startOAuth()
  const uris = [
    'http://127.0.0.1/cb',
    'http://[::1]:1/cb?x=1',
    'http://localhost:3000/cb',
    'https://probe.example/cb',
  ]
  const { body } = await registerClient(service, { redirect_uris: uris })
  const { open } = flow(service, { cookie, clientId: body.client_id })
  const statusOf = async (redirect_uri: string) => (await open({ redirect_uri })).status
  for (const uri of [
    ...uris,
    'http://127.0.0.1:50123/cb',
    'http://[::1]:50123/cb?x=1',
    'http://[::1]/cb?x=1',
    'http://localhost/cb',
  ])
    expect([uri, await statusOf(uri)]).toEqual([uri, 200])
  for (const uri of [
    'http://[::1]:50123/cb',
    'http://localhost:50123/CB',
    'https://probe.example:443/cb',
    'https://PROBE.example/cb',
    'https://probe.example/cb/',
    'https://probe.example/%63b',
  ])
    expect([uri, await statusOf(uri)]).toEqual([uri, 400])
})

test('the page says whether the answer goes to a program on this computer or to a host', async () => {
  const { service, cookie } = await startOAuth()
  const shown = async (uri: string) => {
    const { body } = await registerClient(service, { redirect_uris: [uri] })
    const page = await flow(service, { cookie, clientId: body.client_id }).open({ redirect_uri: uri })
    return /The answer goes to .*\./.exec(page.text)?.[0]
  }
  const onThisComputer = 'The answer goes to a program on this computer'
  expect(await shown(redirectUri)).toBe(`${onThisComputer} (<code>127.0.0.1</code>).`)
  expect(await shown('com.example.app:/cb')).toBe(`${onThisComputer} (<code>com.example.app:</code>).`)
  expect(await shown('https://probe.example:8443/cb')).toBe(
    'The answer goes to <code>probe.example:8443</code>.',
  )
})

test('the address may be left out if the client registered one address', async () => {
  const { service, cookie, open, client } = await startOAuth()
  expect((await open({ redirect_uri: '' })).status).toBe(200)
  const uris = [redirectUri, 'https://probe.example/cb']
  const { body } = await registerClient(service, { redirect_uris: uris })
  expect(body.client_id).not.toBe(client.body.client_id)
  expectNoRedirect(await flow(service, { cookie, clientId: body.client_id }).open({ redirect_uri: '' }))
})

test('the answer is added to the query of the registered address', async () => {
  const { service, cookie } = await startOAuth()
  const uri = 'https://probe.example/cb?tenant=7&empty='
  const { body } = await registerClient(service, { redirect_uris: [uri] })
  const { submit } = flow(service, { cookie, clientId: body.client_id })
  const { headers } = await submit({ decision: 'deny', redirect_uri: uri, state: 'a&b=c #"' })
  const location = headers.get('location') ?? ''
  expect(location).toStartWith(`${uri}&error=access_denied&`)
  expect(new URL(location).searchParams.get('state')).toBe('a&b=c #"')
})

const wrongRequests: [Record<string, string>, string][] = [
  [{ response_type: '' }, 'invalid_request'],
  [{ response_type: 'token' }, 'unsupported_response_type'],
  [{ response_type: 'code id_token' }, 'unsupported_response_type'],
  [{ response_mode: 'fragment' }, 'invalid_request'],
  [{ code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
  [{ code_challenge: '' }, 'invalid_request'],
  [{ code_challenge_method: '' }, 'invalid_request'],
  [{ code_challenge_method: 'plain' }, 'invalid_request'],
  [{ code_challenge_method: 'S512' }, 'invalid_request'],
  [{ code_challenge_method: 's256' }, 'invalid_request'],
  [{ code_challenge: 'too-short' }, 'invalid_request'],
  [{ code_challenge: `${challenge}=` }, 'invalid_request'],
  [{ scope: 'admin' }, 'invalid_scope'],
  [{ scope: 'read admin' }, 'invalid_scope'],
  [{ scope: 'READ' }, 'invalid_scope'],
  [{ resource: 'https://elsewhere.example/' }, 'invalid_target'],
  [{ resource: 'not an address' }, 'invalid_target'],
  [{ request: 'eyJ' }, 'request_not_supported'],
  [{ request_uri: 'https://probe.example/request' }, 'request_uri_not_supported'],
  [{ state: 'x'.repeat(limits.stateLengthMax + 1) }, 'invalid_request'],
]
test('a wrong request of a known client is sent back with its error', async () => {
  const { service, account, open, submit } = await startOAuth()
  for (const [changes, error] of wrongRequests) {
    for (const answer of [await open(changes), await submit({ decision: 'allow', ...changes })]) {
      expect([302, 303]).toContain(answer.status)
      const { error_description, ...sent } = answerIn(answer)
      expect([changes, sent]).toEqual([
        changes,
        { error, state: changes.state ?? 'a state', iss: service.url },
      ])
      expect(error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    }
  }
  expect(grantsOf(service, account)).toEqual([])
})

test('a parameter that is given twice is refused', async () => {
  const { service, params } = await startOAuth()
  for (const name of ['response_type', 'client_id', 'scope', 'state', 'code_challenge']) {
    const twice = new URLSearchParams(params({ scope: 'read' }))
    twice.append(name, twice.get(name) ?? '')
    expect(answerIn(await service.fetch(`/oauth/authorize?${twice}`)).error).toBe('invalid_request')
  }
  const twice = new URLSearchParams(params())
  twice.append('redirect_uri', 'https://elsewhere.example/')
  expectNoRedirect(await service.fetch(`/oauth/authorize?${twice}`))
})

test('a client may name the service or its MCP endpoint as the resource', async () => {
  const { service, cookie, open, params } = await startOAuth()
  for (const resource of [service.url, `${service.url}/`, `${service.url}/mcp`, `${service.url}/mcp/`])
    expect([resource, (await open({ resource })).status]).toEqual([resource, 200])
  const both = params({ resource: service.url })
  both.append('resource', `${service.url}/mcp`)
  const headers = { Cookie: cookie }
  expect((await service.fetch(`/oauth/authorize?${both}`, { headers })).status).toBe(200)
  for (const resource of [
    `${service.url}/mcp#`,
    `${service.url}/mcp#x`,
    `${service.url}/v1`,
    'http://127.0.0.1/mcp',
  ])
    expect([resource, answerIn(await open({ resource })).error]).toEqual([resource, 'invalid_target'])
})

test('an address may send the forms of the page ten times a minute', async () => {
  const { service, submit } = await startOAuth({ STENO_RATE_LIMITS: 'on' })
  const attempt = () => submit({ decision: 'sign-in', key: 'sk_live_x' }, { Origin: service.url })
  for (let count = 0; count < rates['oauth.authorize']; count++) expect((await attempt()).status).toBe(400)
  const refused = await attempt()
  expect([refused.status, refused.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8'])
  expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61)
})

test('a body that is no form gets a page', async () => {
  const service = await startTestService()
  const answer = await service.fetch('/oauth/authorize', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
  })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
})

steered('a code whose exchange never came is forgotten', async () => {
  const { service, account, getCode, exchange } = await startOAuth()
  const code = await getCode()
  service.later(limits.codeTtlMs)
  expect(grantsOf(service, account)).toEqual([])
  expect((await exchange(code)).body.error).toBe('invalid_grant')
})

test('the browser of an account sees only its own grants, and revokes them', async () => {
  const { service, account, cookie, getTokens, getCode, call } = await startOAuth()
  const ben = await signIn(service, service.account('ben').key)
  const list = (Cookie: string) => service.fetch('/app/grants', { headers: { Cookie } })
  const { access_token } = await getTokens({ scope: 'read' })
  await getTokens()
  await getCode()
  const { items } = (await list(cookie)).body
  expect(items).toHaveLength(2)
  expect(items[1]).toEqual({
    id: expect.any(String),
    client_name: 'Probe',
    scopes: ['read'],
    created_at: expect.any(String),
    last_used_at: expect.any(String),
  })
  expect((await list(ben)).body.items).toEqual([])
  const revoke = (Cookie: string, id: string) =>
    service.fetch(`/app/grants/${id}`, { method: 'DELETE', headers: { Cookie, Origin: service.url } })
  for (const [who, id] of [
    [ben, items[1].id],
    [cookie, 'x'],
  ] as const)
    expect((await revoke(who, id)).body.error.message).toBe('There is no such grant.')
  expect((await call(access_token)).status).toBe(200)
  expect((await revoke(cookie, items[1].id)).status).toBe(204)
  expect((await call(access_token)).status).toBe(401)
  expect((await list(cookie)).body.items).toEqual([items[0]])
  expect((await account.get('/app/grants')).body.error.code).toBe('SESSION_ENDED')
})
