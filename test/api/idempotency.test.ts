import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { purgeReplies, saveReply } from '../../src/api/gate/idempotency.ts'
import { limits } from '../../src/limits.ts'
import { defaults } from '../support/defaults.ts'
import { shareServices, startTestService, steered } from '../support/service.ts'

shareServices()

const unlimited = { settings: { STENO_RATE_LIMITS: 'off' } }
const body = '{"url": "https://media.example/a.mp3"}'
const keyed = (key: string) => ({ 'Idempotency-Key': key })

test('the same key and body create one job, and the replies are identical', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const first = await ana.post('/v1/transcribe', body, keyed('a'))
  const again = await ana.post('/v1/transcribe', body, keyed('a'))
  expect(again.status).toBe(200)
  expect(again.text).toBe(first.text)
  expect(first.headers.get('idempotent-replay')).toBeNull()
  expect(again.headers.get('idempotent-replay')).toBe('true')
  expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
  expect((await ana.get('/v1/transcriptions')).body.items).toHaveLength(1)
})

test('without a key each submission creates a job', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  await ana.post('/v1/transcribe', body)
  await ana.post('/v1/transcribe', body)
  expect((await ana.get('/v1/transcriptions')).body.items).toHaveLength(2)
})

test('another body under the same key is a conflict, even if its meaning is the same', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  await ana.post('/v1/transcribe', body, keyed('a'))
  const other = await ana.post('/v1/transcribe', body.replace(' ', '  '), keyed('a'))
  expect([other.status, other.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_CONFLICT'])
})

test('a key belongs to an account and an endpoint', async () => {
  const service = await startTestService(unlimited)
  const [ana, ben] = [service.account('ana'), service.account('ben')]
  const upload = '{"filename": "a.mp3"}'
  const replays: (number | string | null)[][] = []
  for (const [who, path, sent] of [
    [ana, '/v1/upload', upload],
    [ana, '/v1/transcribe', body],
    [ben, '/v1/upload', upload],
    [ana, '/v1/upload', upload],
  ] as const) {
    const { status, headers } = await who.post(path, sent, keyed('a'))
    replays.push([status, headers.get('idempotent-replay')])
  }
  expect(replays).toEqual([...Array(3).fill([200, null]), [200, 'true']])
})

test('a request that fails frees the key', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  expect((await ana.post('/v1/transcribe', '{"language": "xx"}', keyed('a'))).status).toBe(400)
  expect((await ana.post('/v1/transcribe', 'no json', keyed('a'))).status).toBe(400)
  expect((await ana.post('/v1/transcribe', '{"upload_id": "x"}', keyed('a'))).status).toBe(404)
  expect((await ana.post('/v1/transcribe', body, keyed('a'))).status).toBe(200)
})

steered('a key expires after a day, also before a sweep deletes its reply', async () => {
  let nowMs = Date.now()
  const service = await startTestService({ ...unlimited, parts: { clock: () => nowMs } })
  const ana = service.account('ana')
  const first = await ana.post('/v1/transcribe', body, keyed('a'))
  nowMs += defaults.idempotencyTtlMs - 1
  expect((await ana.post('/v1/transcribe', body, keyed('a'))).text).toBe(first.text)
  nowMs += 1
  const later = await ana.post('/v1/transcribe', body, keyed('a'))
  expect([later.status, later.headers.get('idempotent-replay')]).toEqual([200, null])
})

test('expired replies are deleted in parts, the oldest first', async () => {
  const { db, ...service } = await startTestService({ alone: true })
  const accountId = service.account('ana').id
  const count = limits.purgedRepliesMax + 1
  db.tx(() => {
    for (let i = 0; i < count; i++)
      saveReply(db, { accountId, endpoint: 'jobs.create', key: `${count - i}` }, new Uint8Array(), '{}')
    db.run('update idempotent_replies set created_at = created_at - cast(key as integer)')
  })
  const keys = () => db.list<{ key: string }>('select key from idempotent_replies').map(({ key }) => key)
  purgeReplies(db, { keptMs: 0 })
  expect(keys()).toEqual(['1'])
  purgeReplies(db, { keptMs: 0 })
  expect(keys()).toEqual([])
})

test.each([
  ['', 400],
  ['x'.repeat(limits.idempotencyKeyLengthMax), 200],
  ['x'.repeat(limits.idempotencyKeyLengthMax + 1), 400],
  ['with spaces ~ and !', 200],
  ['\u00e4', 400],
])('a key may be 1 to 255 printable characters: %p', async (key, status) => {
  const service = await startTestService(unlimited)
  expect((await service.account('ana').post('/v1/transcribe', body, keyed(key))).status).toBe(status)
})

test('the key is locked while its first request runs', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const { port, hostname } = new URL(service.url)
  const slow = connect(Number(port), hostname)
  const answered = new Promise<string>(resolve => slow.once('data', data => resolve(`${data}`)))
  slow.write(
    `POST /v1/transcribe HTTP/1.1\r\nHost: x\r\nAuthorization: ${ana.key}\r\nIdempotency-Key: a\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  )
  // The server locks the Idempotency-Key after it has read the headers of the slow request. Until then, a second
  // request with the invalid body `{}` gets the status 400. So the test repeats the second request until the key is
  // locked.
  let locked = await ana.post('/v1/transcribe', '{}', keyed('a'))
  while (locked.status === 400) locked = await ana.post('/v1/transcribe', '{}', keyed('a'))
  expect([locked.status, locked.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_LOCKED'])
  expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(0)
  const others = [
    await service.account('ben').post('/v1/transcribe', body, keyed('a')),
    await ana.post('/v1/upload', '{"filename": "a.mp3"}', keyed('a')),
  ]
  expect(others.map(({ status }) => status)).toEqual([200, 200])

  slow.write(body.slice(10))
  const first = await answered
  slow.destroy()
  expect(first).toStartWith('HTTP/1.1 200')
  const replay = await ana.post('/v1/transcribe', body, keyed('a'))
  expect(first).toEndWith(replay.text)
})

test('a broken connection frees the key', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const { port, hostname } = new URL(service.url)
  const gone = connect(Number(port), hostname)
  gone.write(
    `POST /v1/transcribe HTTP/1.1\r\nHost: x\r\nAuthorization: ${ana.key}\r\nIdempotency-Key: a\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  )
  let answer = await ana.post('/v1/transcribe', '{}', keyed('a'))
  while (answer.status === 400) answer = await ana.post('/v1/transcribe', '{}', keyed('a'))
  expect(answer.status).toBe(409)
  gone.destroy()
  while (answer.status === 409) answer = await ana.post('/v1/transcribe', body, keyed('a'))
  expect(answer.status).toBe(200)
})
