// Tests the requests below /app, which serve only the web app.

import { expect, test } from 'bun:test'
import { deposit } from '../../src/accounts/ledger.ts'
import { setOperator } from '../../src/accounts/settings.ts'
import { speech } from '../support/media.ts'
import { hashAtLowCost, password } from '../support/password.ts'
import { shareServices, sourceOnly, startTestService, steered } from '../support/service.ts'
import { type Browser, enter, signedIn } from '../support/signed-in.ts'

shareServices()
hashAtLowCost()

test('a key is made, shown once, listed and revoked', async () => {
  const service = await startTestService()
  const ana = await signedIn(service, service.email('ana'))
  const made = await ana('POST', '/app/keys', { name: ' podcast feed ' })
  expect([made.status, made.headers.get('cache-control')]).toEqual([200, 'no-store'])
  const { id, key } = made.body
  const asScript = (path: string) => service.fetch(path, { headers: { Authorization: `Bearer ${key}` } })
  expect((await asScript('/v1/balance')).status).toBe(200)
  const listed = await ana('GET', '/app/keys')
  expect(listed.text).not.toContain(key)
  expect(listed.body.items).toMatchObject([
    { id, name: 'podcast feed', prefix: key.slice(0, 12), revoked_at: null },
  ])
  expect((await ana('DELETE', `/app/keys/${id}`)).status).toBe(204)
  expect((await asScript('/v1/balance')).body.error.code).toBe('API_KEY_REVOKED')
})

test('an account has at most five keys, and sees and revokes only its own', async () => {
  const service = await startTestService()
  const ana = await signedIn(service, service.email('mia'))
  const { keyId } = service.account('ben')
  for (const name of ['1', '2', '3', '4', '5']) {
    expect((await ana('POST', '/app/keys', { name })).status).toBe(200)
  }
  const sixth = await ana('POST', '/app/keys', { name: '6' })
  expect([sixth.status, sixth.body.error.code]).toEqual([409, 'CONFLICT'])
  const foreign = await ana('DELETE', `/app/keys/${keyId}`)
  expect([foreign.status, foreign.body.error.message]).toEqual([404, 'There is no such key.'])
  const { items, active_max } = (await ana('GET', '/app/keys')).body
  expect([items.length, active_max]).toEqual([5, 5])
  expect((await ana('DELETE', `/app/keys/${items[0].id}`)).status).toBe(204)
  expect((await ana('POST', '/app/keys', { name: '6' })).status).toBe(200)
  for (const name of ['', ' '])
    expect((await ana('POST', '/app/keys', { name })).body.error.message).toContain('name')
})

steered('the request of a job is read by its own account, and by no other', async () => {
  const service = await startTestService()
  const [dora, eve] = [service.account('dora'), service.account('eve')]
  const id = await dora.transcribe(speech(5), { align: false, metadata: { call: '4711' } })
  const read = async ({ key }: { key: string }) => {
    const page = await enter(service, { key })
    return (await page('GET', `/app/jobs/${id}/request`)).body
  }
  expect(await read(dora)).toMatchObject({ url: null, align: false, metadata: { call: '4711' } })
  expect((await read(eve)).error.code).toBe('TRANSCRIPTION_NOT_FOUND')
})

steered('the list of keys says when each was last used, to the minute', async () => {
  const service = await startTestService()
  const ben = service.account('ben')
  const page = await enter(service, { key: ben.key })
  service.later(1)
  expect((await page('GET', '/app/keys')).body.items[0].last_used_at).toBeNull()
  await ben.balance()
  service.later(1)
  const [used] = (await page('GET', '/app/keys')).body.items
  expect(Date.now() - Date.parse(used.last_used_at)).toBeLessThan(60_000)
  await ben.balance()
  service.later(1)
  expect((await page('GET', '/app/keys')).body.items[0].last_used_at).toBe(used.last_used_at)
})

steered('the statement has each deposit and charge, with its job and the balance after it', async () => {
  const service = await startTestService()
  const ben = service.account('ben', { credit: 1000 })
  const page = await enter(service, { key: ben.key })
  const id = await ben.transcribe(speech(3600), { metadata: { name: 'Board meeting.mp3' } })
  service.engine.finish(await service.engine.given(1))
  await ben.until(id, 'completed')
  const { items, next_cursor } = (await page('GET', '/app/statement')).body
  expect(next_cursor).toBeNull()
  expect(items).toMatchObject([
    {
      kind: 'charge',
      cents: 20,
      balance_cents: 980,
      transcription_id: id,
      name: 'Board meeting.mp3',
      audio_duration_seconds: 3600,
    },
    { kind: 'deposit', cents: 1000, balance_cents: 1000, transcription_id: null },
  ])
  await ben.delete(`/v1/transcribe/${id}`)
  const [charge] = (await page('GET', '/app/statement')).body.items
  expect(charge).toMatchObject({ transcription_id: id, name: null })
})

test('the statement comes in pages', async () => {
  const service = await startTestService()
  const ben = service.account('ben', { credit: 0 })
  const page = await enter(service, { key: ben.key })
  for (let count = 0; count < 60; count++) deposit(service.db, ben.id, 1)
  const first = (await page('GET', '/app/statement')).body
  expect([first.items.length, first.items[0].balance_cents]).toEqual([50, 60])
  deposit(service.db, ben.id, 1)
  const second = (await page('GET', `/app/statement?cursor=${first.next_cursor}`)).body
  const balances = second.items.map((item: { balance_cents: number }) => item.balance_cents)
  expect([balances, second.next_cursor]).toEqual([[10, 9, 8, 7, 6, 5, 4, 3, 2, 1], null])
  const foreign = await enter(service, { key: service.account('cleo').key })
  expect((await foreign('GET', `/app/statement?cursor=${first.next_cursor}`)).status).toBe(400)
})

test('a changed password ends all other sessions, and needs the password before it', async () => {
  const service = await startTestService()
  const email = service.email('eve')
  const ana = await signedIn(service, email)
  const elsewhere = await enter(service, { email, password })
  const wrong = await ana('PUT', '/app/password', { current_password: 'guess', password: 'a new password' })
  expect([wrong.status, wrong.body.error.code]).toEqual([401, 'INVALID_CREDENTIALS'])
  const body = { current_password: password, password: 'a new password' }
  expect((await ana('PUT', '/app/password', body)).status).toBe(204)
  expect((await ana('GET', '/app/account')).body.has_password).toBe(true)
  expect((await elsewhere('GET', '/app/account')).body.error.code).toBe('SESSION_ENDED')
  await enter(service, { email, password: 'a new password' })
})

steered('of two changes of the same password at the same time, only one succeeds', async () => {
  const service = await startTestService()
  const ana = await signedIn(service, 'ida@example.org')
  const elsewhere = await enter(service, { email: 'ida@example.org', password })
  const change = (page: Browser, next: string) =>
    page('PUT', '/app/password', { current_password: password, password: next })
  const answers = await Promise.all([change(ana, 'the first of two'), change(elsewhere, 'the second of two')])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 401])
})

// In the built program, a new password and a sign-in take half a second of CPU time. This test runs only with the
// source, because another test already changes a password in the built program.
sourceOnly('an account that signed in with a key can set its first password', async () => {
  const service = await startTestService()
  const ben = service.account('ben')
  const page = await enter(service, { key: ben.key })
  expect((await page('GET', '/app/account')).body.has_password).toBe(false)
  expect((await page('PUT', '/app/password', { password: 'short' })).status).toBe(400)
  expect((await page('PUT', '/app/password', { password: 'long enough' })).status).toBe(204)
  await enter(service, { email: ben.email, password: 'long enough' })
})

test('the default webhook is set, checked and tested', async () => {
  const service = await startTestService({ settings: { STENO_ALLOW_NETS: '127.0.0.0/8' } })
  const ben = service.account('ben')
  const page = await enter(service, { key: ben.key })
  expect((await page('POST', '/app/webhook/test')).body.error.code).toBe('CONFLICT')
  const refused = await page('PUT', '/app/webhook', { url: 'http://8.8.8.8/hook' })
  expect(refused.body.error.message).toContain('https')
  const requests: { raw: string; headers: Headers }[] = []
  using receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      requests.push({ raw: await request.text(), headers: request.headers })
      return new Response(null, { status: requests.length === 1 ? 200 : 500 })
    },
  })
  const url = `http://127.0.0.1:${receiver.port}/hook`
  expect((await page('PUT', '/app/webhook', { url })).status).toBe(204)
  expect((await page('GET', '/app/account')).body.webhook_url).toBe(url)
  const withoutKey = await signedIn(service, service.email('zoe'))
  expect((await withoutKey('PUT', '/app/webhook', { url })).status).toBe(204)
  expect((await withoutKey('POST', '/app/webhook/test')).body.error.code).toBe('CONFLICT')
  expect((await page('POST', '/app/webhook/test')).body).toEqual({ outcome: 'delivered', status: 200 })
  expect((await page('POST', '/app/webhook/test')).body).toEqual({ outcome: 'refused', status: 500 })
  expect(JSON.parse(requests[0]?.raw ?? '')).toMatchObject({ event: 'test' })
  expect(requests[0]?.headers.get('x-service-signature')).toMatch(/^[0-9a-f]{64}$/)
  expect((await page('PUT', '/app/webhook', { url: null })).status).toBe(204)
  expect((await page('GET', '/app/account')).body.webhook_url).toBeNull()
})

test('a page of another site can change nothing', async () => {
  const service = await startTestService()
  const { key } = service.account('ben')
  const answer = await service.fetch('/app/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ key }),
  })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  const headers = { Cookie: cookie, 'Sec-Fetch-Site': 'cross-site', 'Content-Type': 'application/json' }
  const body = JSON.stringify({ name: 'stolen' })
  expect((await service.fetch('/app/keys', { method: 'POST', headers, body })).status).toBe(403)
  expect((await service.fetch('/app/keys', { method: 'POST', body })).status).toBe(401)
})

steered('an operator sees queue, hours, errors, accounts and requests; nobody else does', async () => {
  const service = await startTestService()
  const ben = service.account('ben')
  const page = await enter(service, { key: ben.key })
  expect((await page('GET', '/app/operator')).status).toBe(403)
  setOperator(service.db, ben.id, true)
  expect((await page('GET', '/app/account')).body.operator).toBe(true)

  const id = await ben.transcribe(speech(1800))
  const broken = await ben.transcribe('no media at all')
  service.engine.finish(await service.engine.given(1))
  await ben.until(id, 'completed')
  await ben.until(broken, 'failed')
  const cancelled = await ben.transcribe(speech(60))
  await ben.until(cancelled, 'processing')
  await ben.post(`/v1/transcribe/${cancelled}/cancel`)
  await ben.until(cancelled, 'failed')
  const waiting = await ben.transcribe(speech(60))
  await ben.until(waiting, 'processing')

  const { body } = await page('GET', '/app/operator')
  expect(body.hours).toHaveLength(24)
  expect(body.hours.at(-1).completed + body.hours.at(-2).completed).toBe(1)
  expect(body.queue).toEqual({ created: 0, downloading: 0, pending: 0, processing: 1 })
  // The cancelled job does not count as failed, so only one job has failed.
  expect(body.hours.at(-1).failed + body.hours.at(-2).failed).toBe(1)
  expect(body.errors).toMatchObject([{ code: 'INVALID_MEDIA_FORMAT', jobs: 1 }])
  expect(body.accounts).toMatchObject([
    { email: 'ben@example.org', jobs: 4, charged_cents: 10, audio_seconds: 1800 },
  ])
  expect([body.engine_crashes, body.lost_events]).toEqual([0, 0])
  expect(body.disk.free_bytes).toBeGreaterThan(0)
  expect(body.requests).toContainEqual(
    expect.objectContaining({
      route: '/v1/transcribe',
      method: 'POST',
      status: 200,
      account: 'ben@example.org',
    }),
  )
})
