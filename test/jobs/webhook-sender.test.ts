import { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createKey, revokeKey } from '../../src/accounts/key.ts'
import { setDefaultWebhook } from '../../src/accounts/settings.ts'
import { log } from '../../src/base/log.ts'
import { databasePath } from '../../src/db/db.ts'
import { defaults } from '../support/defaults.ts'
import { speech } from '../support/media.ts'
import { startReceiver } from '../support/receiver.ts'
import { startTestService } from '../support/service.ts'

const home = { settings: { STENO_RATE_LIMITS: 'off', STENO_ALLOW_NETS: '127.0.0.0/8' } }

test('a job that completes sends processing, then completed with the same result as the API', async () => {
  const service = await startTestService(home)
  const receiver = startReceiver()
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(11.7), { webhook_url: receiver.url })
  service.engine.finish(await service.engine.given(1))
  await receiver.got(2)
  const job = await ana.job(id)
  expect(receiver.received.map(({ body }) => body)).toEqual([
    {
      event: 'transcription.processing',
      transcription_id: id,
      metadata: {},
      status: 'processing',
      duration_seconds: 11.7,
      cost_cents: job.cost_cents,
    },
    {
      event: 'transcription.completed',
      transcription_id: id,
      metadata: {},
      status: 'completed',
      duration_seconds: 11.7,
      cost_cents: job.cost_cents,
      result: job.result,
    },
  ])
})

test('every webhook is signed with the key that submitted the job', async () => {
  const service = await startTestService(home)
  const receiver = startReceiver()
  const ana = service.account('ana')
  await ana.transcribe(speech(5), { webhook_url: receiver.url })
  await receiver.got(1)
  // The API key is revoked during the job, but must still sign the job's webhooks.
  revokeKey(service.db, ana.keyId)
  createKey(service.db, service.secrets, ana.id, { name: 'other' })
  service.engine.finish(await service.engine.given(1))
  await receiver.got(2)
  const secret = createHash('sha256').update(ana.key).digest('hex')
  for (const { headers, raw } of receiver.received) {
    const timestamp = headers.get('x-service-timestamp')!
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(60)
    expect(headers.get('x-service-signature')).toBe(
      createHmac('sha256', secret).update(`${timestamp}.${raw}`).digest('hex'),
    )
    expect(headers.get('user-agent')).toBe('service-webhook/1')
    expect(headers.get('content-type')).toBe('application/json')
  }
})

test('no file in the data folder contains a key or its signing secret in plain form', async () => {
  const service = await startTestService(home)
  const ana = service.account('ana')
  await ana.transcribe()
  const secret = createHash('sha256').update(ana.key).digest('hex')
  let files = 0
  for await (const path of new Bun.Glob('**/*').scan({ cwd: service.dataDir, absolute: true })) {
    const bytes = Buffer.from(await Bun.file(path).arrayBuffer())
    files += 1
    for (const each of [ana.key, secret, Buffer.from(secret, 'hex')]) expect(bytes.includes(each)).toBe(false)
  }
  expect(files).toBeGreaterThan(2)
})

test('a job that fails before it reaches an engine sends only failed', async () => {
  const service = await startTestService(home)
  const receiver = startReceiver()
  const ana = service.account('ana')
  const id = await ana.transcribe('no media', { webhook_url: receiver.url })
  await receiver.got(1)
  expect(receiver.received[0]!.body).toEqual({
    event: 'transcription.failed',
    transcription_id: id,
    metadata: {},
    status: 'failed',
    error: { code: 'INVALID_MEDIA_FORMAT', message: expect.any(String) },
  })
  service.later(defaults.createdTimeoutMs)
  expect(receiver.events()).toEqual(['transcription.failed'])
})

test('a cancel and a timeout send failed once', async () => {
  const service = await startTestService(home)
  const receiver = startReceiver()
  const ana = service.account('ana')
  const cancelled = await ana.transcribe(speech(5), { webhook_url: receiver.url })
  await receiver.got(1)
  for (let count = 0; count < 2; count++) await ana.post(`/v1/transcribe/${cancelled}/cancel`)
  await receiver.got(2)
  await ana.transcribe(speech(6), { webhook_url: receiver.url })
  await receiver.got(3)
  service.later(defaults.processingTimeoutMs + 1)
  await receiver.got(4)
  expect(receiver.received.map(({ body }) => (body.error as { code: string } | undefined)?.code)).toEqual([
    undefined,
    'CANCELLED',
    undefined,
    'PROCESSING_TIMEOUT',
  ])
})

test('a job keeps the default webhook that its account had at submit', async () => {
  const service = await startTestService(home)
  const [first, second] = [startReceiver(), startReceiver()]
  const ana = service.account('ana')
  setDefaultWebhook(service.db, ana.id, first.url)
  await ana.transcribe()
  setDefaultWebhook(service.db, ana.id, second.url)
  service.engine.finish(await service.engine.given(1))
  await first.got(2)
  expect(second.received).toEqual([])
})

test('a receiver that never answers delays no job, and its events stay in order', async () => {
  const service = await startTestService({ settings: { ...home.settings, STENO_WEBHOOK_TIMEOUT: '300ms' } })
  const receiver = startReceiver(() => new Promise(() => {}))
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(5), { webhook_url: receiver.url })
  service.engine.finish(await service.engine.given(1))
  expect(await ana.until(id, 'completed')).toMatchObject({ status: 'completed' })
  expect(receiver.events()).not.toContain('transcription.completed')
  await receiver.got(2)
  expect(receiver.events()).toEqual(['transcription.processing', 'transcription.completed'])
})

test('an event that is refused is logged with its receiver and dropped, and nothing else changes', async () => {
  using warned = spyOn(log, 'warn')
  const service = await startTestService(home)
  const receiver = startReceiver(() => new Response('no', { status: 500 }))
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(5), { webhook_url: receiver.url })
  service.engine.finish(await service.engine.given(1))
  await receiver.got(2)
  expect(await ana.job(id)).toMatchObject({ status: 'completed' })
  expect(receiver.events()).toEqual(['transcription.processing', 'transcription.completed'])
  expect(warned.mock.calls.find(([event]) => event === 'webhook')?.[1]).toEqual({
    job_id: id,
    account_id: ana.id,
    webhook_event: 'transcription.processing',
    host: new URL(receiver.url).host,
    outcome: 'refused',
    status: 500,
  })
})

test('events that were not sent before a stop are sent at the next start, and none is sent twice', async () => {
  const service = await startTestService(home)
  const receiver = startReceiver()
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(5), { webhook_url: receiver.url })
  await receiver.got(1)
  await service.stop()

  const again = await startTestService({ ...home, dataDir: service.dataDir })
  again.engine.finish(await again.engine.given(1))
  await receiver.got(2)
  expect(receiver.received.map(({ body }) => [body.event, body.transcription_id])).toEqual([
    ['transcription.processing', id],
    ['transcription.completed', id],
  ])
})

test('a job that is deleted while its webhook is unanswered still sends completed, with its transcript', async () => {
  const service = await startTestService(home)
  const { promise: processed, resolve: endProcessing } = Promise.withResolvers<Response>()
  let busy = true
  const receiver = startReceiver(() => (busy ? processed : new Response()))
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(5), { webhook_url: receiver.url })
  await receiver.got(1)
  service.engine.finish(await service.engine.given(1), 'Secret words.')
  await ana.until(id, 'completed')
  expect((await ana.delete(`/v1/transcribe/${id}`)).status).toBe(204)
  service.later(0)
  // The webhook with the transcript is not delivered yet. Until then, the database may keep the deleted transcript, but
  // only encrypted.
  expect(readFileSync(databasePath(service.dataDir)).includes('Secret words.')).toBe(false)
  busy = false
  endProcessing(new Response())
  await receiver.got(2)
  expect(receiver.received[1]?.body).toMatchObject({
    event: 'transcription.completed',
    transcription_id: id,
    metadata: {},
    result: { full_transcript: 'Secret words.' },
  })
  await until(() => service.db.find('select 1 from webhook_events where sealed_body is not null') === null)
})

test('an event that was delivered, but not marked as sent before a kill, is sent again at the next start', async () => {
  const service = await startTestService(home)
  const receiver = startReceiver()
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(5), { webhook_url: receiver.url })
  service.engine.finish(await service.engine.given(1))
  await receiver.got(2)
  await until(() => service.db.find('select 1 from webhook_events where sent_at is null') === null)
  // Simulates a kill of the service after the delivery, but before it set `sent_at`.
  service.db.run("update webhook_events set sent_at = null where event = 'transcription.completed'")
  await service.stop()

  const again = await startTestService({ ...home, dataDir: service.dataDir })
  await receiver.got(3)
  expect(receiver.received.map(({ body }) => [body.event, body.transcription_id])).toEqual([
    ['transcription.processing', id],
    ['transcription.completed', id],
    ['transcription.completed', id],
  ])
  await again.stop()
  const last = await startTestService({ ...home, dataDir: service.dataDir })
  last.later(0)
  await last.stop()
  expect(receiver.received).toHaveLength(3)
})

test('an event that is redelivered during an attempt is sent once more after this attempt', async () => {
  const service = await startTestService(home)
  const { promise: slowAnswer, resolve: answerNow } = Promise.withResolvers<Response>()
  const receiver = startReceiver(() => (receiver.received.length === 1 ? slowAnswer : new Response()))
  const ana = service.account('ana')
  const id = await ana.transcribe('no media', { webhook_url: receiver.url })
  await receiver.got(1)
  const { body } = await ana.post(`/v1/webhooks/deliveries/${id}.failed/redeliver`)
  expect(body).toMatchObject({ status: 'pending', attempts: 0 })
  answerNow(new Response(null, { status: 500 }))
  await receiver.got(2)
  const isSettled = 'select 1 from webhook_events where sent_at is not null'
  await until(() => service.db.find(isSettled) !== null)
  const { items } = (await ana.get('/v1/webhooks/deliveries')).body
  expect(items).toMatchObject([{ status: 'delivered', attempts: 1, response_status: 200 }])
})

test('an event is sent once even if the database cannot record it at first', async () => {
  const service = await startTestService(home)
  const { promise: answer, resolve: answerNow } = Promise.withResolvers<Response>()
  const receiver = startReceiver(() => answer)
  const ana = service.account('ana')
  await ana.transcribe(speech(5), { webhook_url: receiver.url })
  await receiver.got(1)
  const other = new Database(databasePath(service.dataDir))
  other.run('begin immediate')
  answerNow(new Response())
  while (!(await service.fetch('/metrics')).text.includes('steno_webhooks_total{outcome="delivered"} 1'))
    await Bun.sleep(2)
  for (let count = 0; count < 3; count++) service.later(0)
  other.close()
  service.later(0)
  await until(() => service.db.find('select 1 from webhook_events where sent_at is null') === null)
  expect(receiver.received).toHaveLength(1)
})

test('an event whose content cannot be read from the database is sent later, and not given up', async () => {
  const service = await startTestService(home)
  const receiver = startReceiver()
  const { find } = service.db
  let failures = 0
  using _ = spyOn(service.db, 'find').mockImplementation((statement, params) => {
    if (failures > 0 || !statement.includes('sealed_secret as sealed from keys where id'))
      return find(statement, params)
    failures += 1
    throw Object.assign(new Error('disk I/O error'), { name: 'SQLiteError', code: 'SQLITE_IOERR_READ' })
  })
  const ana = service.account('ana')
  await ana.transcribe(speech(5), { webhook_url: receiver.url })
  await until(() => failures === 1)
  service.later(0)
  await until(() => find('select 1 from webhook_events where sent_at is null') === null)
  expect(find('select attempts, outcome from webhook_events')).toEqual({ attempts: 1, outcome: 'delivered' })
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(2)
}
