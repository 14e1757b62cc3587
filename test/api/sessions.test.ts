// Tests sign-in sessions: the cookie, the end of a session, and the requests that the cookie allows.

import { expect, spyOn, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Account, closeAccount, createAccount } from '../../src/accounts/account.ts'
import { createKey, listKeys, revokeKey } from '../../src/accounts/key.ts'
import { hashPassword } from '../../src/accounts/password.ts'
import { endSessions } from '../../src/accounts/session.ts'
import { findAccountSettings, setDefaultWebhook, setPassword } from '../../src/accounts/settings.ts'
import { limits, rates } from '../../src/limits.ts'
import { hashAtLowCost, password, passwordHash } from '../support/password.ts'
import {
  type Answer,
  marginMs,
  shareServices,
  sourceOnly,
  startTestService,
  steered,
  type TestService,
} from '../support/service.ts'

shareServices()
hashAtLowCost()

test('an email address and a password open a session for the whole API', async () => {
  const service = await startTestService()
  const email = service.email('ida')
  const account = createAccount(service.db, { email, passwordHash, verified: true })
  const answer = await signIn(service, { email: ` ${email.replace('example', 'EXAMPLE')}`, password })
  expect([answer.status, answer.body.email, answer.body.key_id]).toEqual([200, email, null])
  expect(answer.body.account_id).toBe(account?.id)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const cookie = answer.headers.get('set-cookie')
  expect(cookie).toMatch(/^steno_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/)
  const ida = browser(service, answer)
  expect((await ida('GET', '/app/session')).body.email).toBe(email)
  expect((await ida('GET', '/v1/balance')).status).toBe(200)
  const Cookie = `other=1; ${cookie?.split(';')[0]}`
  expect((await service.fetch('/app/session', { headers: { Cookie } })).status).toBe(200)
  expect((await ida('GET', '/v1/transcriptions')).body.items).toEqual([])
})

test('an API key opens a session, which ends when the key is revoked', async () => {
  const service = await startTestService()
  const { key, keyId, email } = service.account('ana')
  const ana = browser(service, await signIn(service, { key: `${key} ` }))
  expect((await ana('GET', '/app/session')).body).toMatchObject({ email, key_id: keyId })
  revokeKey(service.db, keyId)
  for (const path of ['/app/session', '/v1/balance']) await expectEnded(ana('GET', path))
  expect((await signIn(service, { key })).body.error.code).toBe('INVALID_CREDENTIALS')
})

test('every wrong sign-in gets the same answer', async () => {
  const service = await startTestService()
  const email = service.email('eva')
  createAccount(service.db, { email, passwordHash, verified: true })
  await expectSameRefusal(service, [
    { email, password: `${password}.` },
    { email, password: '' },
    { email, password: '😀'.repeat(limits.passwordLengthMax) },
    { email: 'unknown@example.org', password },
    { key: 'sk_live_unknown' },
    { key: '' },
  ])
})

// This test is skipped for the built program, where the hash of each sign-in would take a quarter second of CPU time.
// Here, `hashAtLowCost` lowers the cost of a hash.
sourceOnly('an account that has no password yet answers as one that does not exist', async () => {
  const service = await startTestService()
  const [unverified, withoutPassword] = ['new', 'none'].map(service.email) as [string, string]
  createAccount(service.db, { email: unverified, passwordHash, verified: false })
  createAccount(service.db, { email: withoutPassword, passwordHash: null, verified: true })
  await expectSameRefusal(service, [
    { email: 'unknown@example.org', password },
    { email: unverified, password },
    { email: withoutPassword, password },
    { email: 'not an address', password },
  ])
})

steered('a sign-in without an account hashes the password too, at the same cost', async () => {
  const service = await startTestService()
  createAccount(service.db, { email: 'ana@example.org', passwordHash, verified: true })
  // `hashAtLowCost` has already replaced both functions by spies. Here, `spyOn` changes nothing: it returns these
  // spies, so that the test can read the arguments of their calls.
  const [hash, verify] = [spyOn(Bun.password, 'hash'), spyOn(Bun.password, 'verify')]
  await hashPassword(password)
  for (const email of ['ana@example.org', 'unknown@example.org'])
    await signIn(service, { email, password: 'a wrong password' })
  const [, cost] = hash.mock.calls.at(-1) ?? []
  const [known, unknown] = verify.mock.calls.slice(-2).map(([, stored]) => stored)
  expect(known).toBe(passwordHash)
  const { memoryCost, timeCost } = cost as Bun.Password.Argon2Algorithm
  expect(unknown).toStartWith(`$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$`)
})

steered.each([
  [
    'the password changes',
    (service: TestService, { id }: Account) => setPassword(service.db, id, 'another hash'),
  ],
  ['the account is deleted', (service: TestService, { id }: Account) => closeAccount(service.db, id)],
])('a sign-in is refused if %s while its password is checked', async (_, change) => {
  const service = await startTestService()
  const account = createAccount(service.db, { email: 'ana@example.org', passwordHash, verified: true })!
  spyOn(Bun.password, 'verify').mockImplementationOnce(async () => {
    change(service, account)
    return true
  })
  await expectSameRefusal(service, [{ email: account.email, password }])
  expect(service.db.list('select * from sessions')).toEqual([])
})

test.each<[string, object]>([
  ['email', {}],
  ['password', { email: 'ana@example.org' }],
  ['key', { email: 'ana@example.org', password: 'x', key: 'y' }],
  ['email', { email: 7, password: 'x' }],
  ['password', { email: 'ana@example.org', password: 'x'.repeat(limits.passwordLengthMax + 1) }],
  ['admin', { email: 'ana@example.org', password: 'x', admin: true }],
])('a sign-in with a wrong field is refused, and the answer names %s', async (named, body) => {
  const service = await startTestService()
  const answer = await signIn(service, body)
  expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST'])
  expect(answer.body.error.message).toContain(named)
})

test('an address may sign in ten times a minute', async () => {
  const service = await startTestService({ alone: true })
  const { key } = service.account('ana')
  for (let count = 0; count < rates['sessions.create']; count++)
    expect((await signIn(service, { key })).status).toBe(200)
  const refused = await signIn(service, { key })
  expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED'])
})

test('all sessions of an account share one quota', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'balance.get=2' } })
  const { key } = service.account('ana')
  const browsers = [
    browser(service, await signIn(service, { key })),
    browser(service, await signIn(service, { key })),
  ]
  const statuses: number[] = []
  for (const send of [...browsers, ...browsers]) statuses.push((await send('GET', '/v1/balance')).status)
  expect(statuses).toEqual([200, 200, 429, 429])
})

test('signing out ends one session, or all sessions of the account', async () => {
  const service = await startTestService()
  const { key } = service.account('ana')
  const ben = browser(service, await signIn(service, { key: service.account('ben').key }))
  const [first, second, third] = await Promise.all(
    [1, 2, 3].map(async () => browser(service, await signIn(service, { key }))),
  )
  const out = await first!('DELETE', '/app/session', own(service))
  expect([out.status, out.headers.get('set-cookie')]).toEqual([
    204,
    'steno_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
  ])
  await expectEnded(first!('GET', '/app/session'))
  expect((await second!('DELETE', '/app/sessions', own(service))).status).toBe(204)
  for (const each of [second!, third!]) await expectEnded(each('GET', '/v1/balance'))
  expect((await ben('GET', '/app/session')).status).toBe(200)
})

steered('a request whose session ends while its body arrives makes no key', async () => {
  const service = await startTestService()
  const { key, id } = service.account('ana')
  const Cookie = (await signIn(service, { key })).headers.get('set-cookie')!.split(';')[0]!
  service.db.run('update sessions set last_used_at = 0')
  const { readable, writable } = new TransformStream<string>()
  const writer = writable.getWriter()
  const headers = { Cookie, 'Content-Type': 'application/json', ...own(service) }
  const body = readable.pipeThrough(new TextEncoderStream())
  const answer = service.fetch('/app/keys', { method: 'POST', headers, body })
  await writer.write('{"name":')
  while (service.db.find('select 1 from sessions where last_used_at > 0') === null) await Bun.sleep(2)
  endSessions(service.db, id)
  await writer.write('"stolen"}')
  await writer.close()
  await expectEnded(answer)
  expect(listKeys(service.db, id)).toHaveLength(1)
})

steered('a key that is revoked while a new password is hashed sets no password', async () => {
  const service = await startTestService()
  const { key, keyId, id } = service.account('ana')
  const ana = browser(service, await signIn(service, { key }))
  spyOn(Bun.password, 'hash').mockImplementationOnce(async () => {
    revokeKey(service.db, keyId)
    return passwordHash
  })
  const headers = { 'Content-Type': 'application/json', ...own(service) }
  await expectEnded(ana('PUT', '/app/password', headers, JSON.stringify({ password })))
  expect(findAccountSettings(service.db, id).passwordHash).toBeNull()
})

test('below /app an API key in a header is no session', async () => {
  const service = await startTestService()
  await expectEnded(service.account('ana').get('/app/session'))
  await expectEnded(service.fetch('/app/session', { headers: { Cookie: 'steno_session=unknown' } }))
  await expectEnded(service.fetch('/v1/balance', { headers: { Cookie: 'steno_session=unknown' } }))
  const none = await service.fetch('/v1/balance', { headers: { Cookie: 'steno_session=; other=1' } })
  expect([none.status, none.body.error.code]).toEqual([401, 'INVALID_API_KEY'])
})

test('a key in a header takes precedence over the cookie', async () => {
  const service = await startTestService()
  const [ana, ben] = [service.account('ana', { credit: 700 }), service.account('ben', { credit: 900 })]
  const send = browser(service, await signIn(service, { key: ana.key }))
  const balance = async (headers: Record<string, string>) =>
    (await send('GET', '/v1/balance', headers)).body.balance_cents
  expect(await balance({})).toBe(700)
  expect(await balance({ Authorization: `Bearer ${ben.key}` })).toBe(900)
  expect(await balance({ 'X-Api-Key': ben.key })).toBe(900)
})

test('a request with a cookie that changes something must come from a page of the service', async () => {
  const service = await startTestService()
  const { key } = service.account('ana')
  const send = browser(service, await signIn(service, { key }))
  const upload = (headers: Record<string, string>) =>
    send('POST', '/v1/upload', { 'Content-Type': 'application/json', ...headers }, '{"filename":"a.mp3"}')
  const { host } = new URL(service.url)
  const foreign: Record<string, string>[] = [
    {},
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
    { 'Sec-Fetch-Site': 'cross-site', Origin: service.url },
    { Origin: 'https://elsewhere.example' },
    { Origin: 'null' },
    { Origin: '' },
    { Origin: `http://${host}.elsewhere.example` },
    { Origin: `http://elsewhere.example?${host}` },
  ]
  for (const headers of foreign) {
    const { status, body } = await upload(headers)
    expect([headers, status, body.error.code]).toEqual([headers, 403, 'FORBIDDEN'])
  }
  const accepted: Record<string, string>[] = [
    own(service),
    { 'Sec-Fetch-Site': 'same-origin' },
    { Origin: 'http://steno.test:1', Host: 'steno.test:1' },
  ]
  for (const headers of accepted) expect((await upload(headers)).status).toBe(200)
  // A browser never adds an API key by itself, so another site cannot misuse the key. Any origin is therefore accepted.
  const keyed = await upload({ 'X-Api-Key': key, Origin: 'https://elsewhere.example' })
  expect(keyed.status).toBe(200)
})

test('a page of another site cannot sign a browser in', async () => {
  const service = await startTestService()
  const { key } = service.account('ana')
  for (const headers of [
    { Origin: 'https://elsewhere.example' },
    { 'Sec-Fetch-Site': 'cross-site' },
  ] as Record<string, string>[]) {
    const { status, headers: got } = await signIn(service, { key }, headers)
    expect([status, got.get('set-cookie')]).toEqual([403, null])
  }
  const form = await signIn(service, { key }, { 'Content-Type': 'text/plain' })
  expect(form.status).toBe(415)
})

test('without the web app there is no sign-in', async () => {
  const service = await startTestService({ settings: { STENO_DASHBOARD: 'off' } })
  const answer = await signIn(service, { key: service.account('ana').key })
  expect([answer.status, answer.body.error.code]).toEqual([404, 'NOT_FOUND'])
})

test('with an https base address the cookie is for https only', async () => {
  const service = await startTestService({ settings: { STENO_BASE_URL: 'https://steno.example' } })
  const { key } = service.account('ana')
  const answer = await signIn(service, { key }, { Origin: 'https://steno.example' })
  expect(answer.headers.get('set-cookie')).toMatch(/^__Host-steno_session=\S+; Path=\/; .*; Secure$/)
  const send = browser(service, answer)
  expect((await send('GET', '/app/session')).status).toBe(200)
  const out = await send('DELETE', '/app/session', { Origin: 'https://steno.example' })
  expect(out.headers.get('set-cookie')).toMatch(/^__Host-steno_session=; .*Max-Age=0;.*; Secure$/)
})

test('the database holds no token, and a session survives a restart', async () => {
  const service = await startTestService({ alone: true })
  const answer = await signIn(service, { key: service.account('ana').key })
  const token = /steno_session=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')![1]!
  await service.stop()
  for (const file of ['steno.db', 'steno.db-wal']) {
    const bytes = (await Bun.file(join(service.dataDir, file)).exists())
      ? readFileSync(join(service.dataDir, file))
      : ''
    expect(bytes.includes(token)).toBe(false)
  }
  const again = await startTestService({ dataDir: service.dataDir })
  expect((await browser(again, answer)('GET', '/app/session')).status).toBe(200)
})

steered('a session ends 30 days after its last use, and a sweep removes it', async () => {
  const service = await startTestService()
  const { key } = service.account('ana')
  const [used, unused] = [
    browser(service, await signIn(service, { key })),
    browser(service, await signIn(service, { key })),
  ]
  service.later(limits.sessionTtlMs - marginMs)
  const renewed = await used('GET', '/app/session')
  expect(renewed.headers.get('set-cookie')).toContain('Max-Age=2592000;')
  expect(Date.parse(renewed.body.expires_at)).toBeGreaterThan(
    Date.parse(renewed.body.created_at) + 1.9 * limits.sessionTtlMs,
  )
  const count = () => service.db.find<{ count: number }>('select count(*) as count from sessions')!.count
  expect(count()).toBe(2)
  service.later(marginMs)
  expect(count()).toBe(1)
  await expectEnded(unused('GET', '/app/session'))
  service.later(limits.sessionTtlMs - 60_000)
  expect((await used('GET', '/v1/balance')).status).toBe(200)
})

steered('beyond fifty sessions of an account the least used one ends', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
  const { key } = service.account('ana')
  const first = browser(service, await signIn(service, { key }))
  const second = browser(service, await signIn(service, { key }))
  service.later(limits.sessionUseEveryMs)
  expect((await first('GET', '/app/session')).status).toBe(200)
  for (let count = 2; count <= limits.sessionsMax; count++) await signIn(service, { key })
  expect((await first('GET', '/app/session')).status).toBe(200)
  await expectEnded(second('GET', '/app/session'))
  // The clock steps back, so the last uses of the older sessions are now in the future. A new session must still not
  // count as the one that was unused for the longest time.
  service.stepClock(-24 * 3_600_000)
  const later = [await signIn(service, { key }), await signIn(service, { key })]
  for (const session of later)
    expect((await browser(service, session)('GET', '/app/session')).status).toBe(200)
})

test('the newest key of the account signs the webhooks of a job of a session', async () => {
  const service = await startTestService({
    alone: true,
    settings: { STENO_ALLOW_NETS: '127.0.0.0/8', STENO_PRICE_PER_HOUR_CENTS: '0' },
  })
  const email = 'ana@example.org'
  const { id } = createAccount(service.db, { email, passwordHash, verified: true })!
  setDefaultWebhook(service.db, id, 'http://127.0.0.1:1/default')
  const send = browser(service, await signIn(service, { email, password }))
  const transcribe = (body: object) =>
    send(
      'POST',
      '/v1/transcribe',
      { 'Content-Type': 'application/json', ...own(service) },
      JSON.stringify({ url: 'http://127.0.0.1:1/a.mp3', ...body }),
    )
  const signer = (jobId: string) =>
    service.db.find('select key_id as keyId, webhook_url as webhookUrl from jobs where id = $jobId', {
      jobId,
    })
  const webhook_url = 'http://127.0.0.1:1/own'

  const refused = await transcribe({ webhook_url })
  expect([refused.status, refused.body.error.message]).toEqual([
    400,
    'Make an API key first: it signs the events that go to webhook_url.',
  ])
  expect(signer((await transcribe({})).body.id)).toEqual({ keyId: null, webhookUrl: null })

  const [oldest, newest, revoked] = [1, 2, 3].map(
    () => createKey(service.db, service.secrets, id, { name: null })!,
  )
  revokeKey(service.db, revoked!.id)
  expect(signer((await transcribe({ webhook_url })).body.id)).toEqual({
    keyId: newest!.id,
    webhookUrl: webhook_url,
  })
  const byKey = browser(service, await signIn(service, { key: oldest!.key }))
  const { body } = await byKey(
    'POST',
    '/v1/transcribe',
    { 'Content-Type': 'application/json', ...own(service) },
    '{"url":"http://127.0.0.1:1/a.mp3"}',
  )
  expect(signer(body.id)).toEqual({ keyId: oldest!.id, webhookUrl: 'http://127.0.0.1:1/default' })
})

/** Signs in with each body. Expects that each sign-in gets the same error response, without a cookie. */
async function expectSameRefusal(service: TestService, bodies: object[]): Promise<void> {
  const answers: Answer[] = []
  for (const body of bodies) answers.push(await signIn(service, body))
  for (const { status, text, headers } of answers) {
    expect([status, text]).toEqual([401, answers[0]!.text])
    expect(headers.get('set-cookie')).toBeNull()
  }
  expect(answers[0]!.body.error.code).toBe('INVALID_CREDENTIALS')
}

function signIn(service: TestService, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  return service.fetch('/app/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

/** Returns a function that sends requests with the cookie of a sign-in response. */
function browser(service: TestService, answer: Answer) {
  const Cookie = /^[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0] ?? ''
  return (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
    service.fetch(path, { method, headers: { Cookie, ...headers }, ...(body ? { body } : {}) })
}

function own({ url }: TestService): Record<string, string> {
  return { Origin: url }
}

async function expectEnded(request: Promise<Answer>): Promise<void> {
  const { status, body, headers } = await request
  expect([status, body.error.code]).toEqual([401, 'SESSION_ENDED'])
  expect(headers.get('www-authenticate')).toStartWith('Bearer ')
}
