// Tests jobs and requests while the database refuses writes, because the disk is full or because another process
// holds the write lock.

import { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { toApiError } from '../../src/api/envelope.ts'
import { log } from '../../src/base/log.ts'
import { databasePath } from '../../src/db/db.ts'
import { failJob } from '../../src/jobs/end.ts'
import type { Job } from '../../src/jobs/job.ts'
import { StepResults } from '../../src/jobs/step-results.ts'
import { limits } from '../../src/limits.ts'
import { speech } from '../support/media.ts'
import { startReceiver } from '../support/receiver.ts'
import { startTestService, steered, type TestService } from '../support/service.ts'

/**
 * A text that does not fit into the free space of an empty database file. It cannot be stored on a full disk, where the
 * file cannot grow.
 */
const longText = 'word '.repeat(50_000)

steered('a transcript that a full disk does not take is kept, and stored by a later sweep', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(60))
  const task = await service.engine.given(1)
  const disk = fillDisk(service)
  service.engine.finish(task, longText)
  await turns()
  service.later(0)
  expect((await ana.job(id)).status).toBe('processing')
  disk.free()
  service.later(0)
  expect((await ana.until(id, 'completed')).result.full_transcript).toBe(longText)
  expect(await ana.balance()).toMatchObject({ reserved_cents: 0 })
  expect(service.engine.tasks).toHaveLength(1)
})

steered(
  'a transcript that does not fit on a full disk does not delay the webhooks of other jobs',
  async () => {
    const service = await startTestService({
      settings: { STENO_ALLOW_NETS: '127.0.0.0/8', STENO_WEBHOOK_RETRIES: '1' },
    })
    const receiver = startReceiver(
      () => new Response(null, { status: receiver.received.length > 1 ? 200 : 500 }),
    )
    const [ana, ben] = [service.account('ana'), service.account('ben')]
    await ben.until(await ben.transcribe('no media', { webhook_url: receiver.url }), 'failed')
    while (!service.db.find("select 1 from webhook_events where outcome = 'refused'")) await turns()
    const id = await ana.transcribe(speech(60))
    const task = await service.engine.given(1)
    const disk = fillDisk(service)
    // The free space is now large enough for other writes, but not for the long transcript.
    service.db.run('delete from filler where rowid % 20 < 10')
    service.engine.finish(task, longText)
    await turns()
    service.later(limits.webhookRetryMs)
    await receiver.got(2)
    expect((await ana.job(id)).status).toBe('processing')
    disk.free()
    service.later(0)
    await ana.until(id, 'completed')
  },
)

test('a transcript that does not fit on a full disk does not delay the results of other jobs', async () => {
  const { db } = await startTestService()
  const ended: string[] = []
  const results = new StepResults(db, ({ id }) => void ended.push(id))
  const [long, short] = [{ id: 'long' } as Job, { id: 'short' } as Job]
  results.keep(long, () => {
    throw Object.assign(new Error('disk full'), { name: 'SQLiteError', code: 'SQLITE_FULL' })
  })
  results.keep(short, () => short)
  expect(results.writeAll(() => {})).toBe(false)
  expect(ended).toEqual(['short'])
})

steered(
  'a job that a command ends while its transcript waits to be stored ends for its engine too',
  async () => {
    const service = await startTestService()
    const ended: string[] = []
    service.engine.ended = id => void ended.push(id)
    const id = await service.account('ana').transcribe(speech(60))
    const task = await service.engine.given(1)
    const lock = lockDatabase(service)
    service.engine.finish(task)
    await turns()
    lock.free()
    failJob(service.db, id, { code: 'CANCELLED' })
    service.later(0)
    service.later(0)
    expect(ended).toEqual([id])
  },
)

steered('a job that cannot begin while another process writes begins at a later sweep', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  service.engine.setReady(false)
  const id = await ana.transcribe(speech(60))
  await ana.until(id, 'pending')
  const lock = lockDatabase(service)
  service.engine.setReady(true)
  await turns()
  expect(service.engine.tasks).toHaveLength(0)
  lock.free()
  service.later(0)
  service.engine.finish(await service.engine.given(1))
  await ana.until(id, 'completed')
})

steered(
  'while another process holds the write lock, a download that cannot begin does not block the server',
  async () => {
    const lookups: ((addresses: string[]) => void)[] = []
    const resolve = () => new Promise<string[]>(found => lookups.push(found))
    const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' }, parts: { resolve } })
    const ana = service.account('ana')
    // An account gets at most three quarters of the download slots. The last of these jobs therefore waits for the end
    // of another download.
    const ids: string[] = []
    for (let count = 0; count <= 0.75 * limits.downloadsMax; count++)
      ids.push((await ana.post('/v1/transcribe', { url: 'http://slow.test/a.mp3' })).body.id)
    const [first = '', last = ''] = [ids[0], ids.at(-1)]
    await ana.until(first, 'downloading')
    const lock = lockDatabase(service)
    lookups[0]?.([])
    await turns()
    expect([(await ana.job(first)).status, (await ana.job(last)).status]).toEqual(['downloading', 'created'])
    lock.free()
    service.later(0)
    await ana.until(first, 'failed')
    await ana.until(last, 'downloading')
  },
)

/**
 * Starts a job of the account `ana` whose download ends while another process holds the write lock. Resolves when the
 * database has refused to store the size of the downloaded file.
 */
async function downloadWhileLocked() {
  const service = await startTestService({ settings: { STENO_ALLOW_NETS: '127.0.0.0/8' } })
  let requests = 0
  let lock: ReturnType<typeof lockDatabase> | null = null
  using source = Bun.serve({
    port: 0,
    fetch() {
      requests += 1
      lock ??= lockDatabase(service)
      return new Response(speech(60))
    },
  })
  const repeatedLater = Promise.withResolvers<void>()
  using _ = spyOn(log, 'warn').mockImplementation(event => {
    if (event === 'step repeated later') repeatedLater.resolve()
  })
  const ana = service.account('ana')
  const { body } = await ana.post('/v1/transcribe', { url: `http://127.0.0.1:${source.port}/a.wav` })
  await repeatedLater.promise
  return { service, ana, id: body.id, requests: () => requests, free: () => lock?.free() }
}

steered('a download that ends while another process writes is not repeated', async () => {
  const { service, requests, free } = await downloadWhileLocked()
  free()
  service.later(0)
  await service.engine.given(1)
  expect(requests()).toBe(1)
  expect(service.db.find('select file_bytes as bytes from jobs')).toEqual({ bytes: speech(60).length })
})

steered(
  'a job that ends before the size of its file is stored leaves no file that is not counted',
  async () => {
    const { service, ana, id, free } = await downloadWhileLocked()
    free()
    expect((await ana.post(`/v1/transcribe/${id}/cancel`)).status).toBe(200)
    expect(service.db.find('select file_bytes as bytes from jobs')).toEqual({ bytes: null })
    expect(readdirSync(join(service.dataDir, 'media'))).toEqual([])
  },
)

steered('if another process holds the write lock when work ends, a later sweep ends the job', async () => {
  const service = await startTestService({ settings: { STENO_ALLOW_NETS: '127.0.0.0/8' } })
  const ana = service.account('ana')
  const receiver = startReceiver()
  const [done, broken] = [
    await ana.transcribe(speech(60), { webhook_url: receiver.url }),
    await ana.transcribe(speech(60), { webhook_url: receiver.url }),
  ]
  const task = await service.engine.given(1)
  await receiver.got(1)
  const lock = lockDatabase(service)
  service.engine.finish(task)
  await turns()
  expect((await ana.job(done)).status).toBe('processing')
  lock.free()
  service.later(0)
  await ana.until(done, 'completed')
  ;(await service.engine.given(2)).reject(new Error('broken'))
  await ana.until(broken, 'failed')
  expect((await ana.balance()).reserved_cents).toBe(0)
  await receiver.got(4)
})

steered('a job whose media cannot be removed while another process writes still ends once', async () => {
  const service = await startTestService({ settings: { STENO_MEDIA_RETENTION: '0' } })
  const ana = service.account('ana')
  using logged = spyOn(log, 'info')
  const id = await ana.transcribe(speech(60))
  const task = await service.engine.given(1)
  let lock: ReturnType<typeof lockDatabase> | null = null
  service.engine.ended = () => {
    lock ??= lockDatabase(service)
  }
  service.engine.finish(task)
  await ana.until(id, 'completed')
  await turns()
  lock!.free()
  service.later(0)
  expect(logged.mock.calls.filter(([event]) => event === 'job completed')).toHaveLength(1)
  expect((await service.fetch('/metrics')).text).toContain(
    'steno_jobs_ended_total{state="completed",code=""} 1\n',
  )
  expect(service.db.find('select media_kept as kept from jobs')).toEqual({ kept: 0 })
})

test('while another process holds the write lock, reads go on and writes get 503', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
  const ana = service.account('ana')
  await ana.upload()
  const lock = lockDatabase(service)
  const startedAt = performance.now()
  const writes = await Promise.all(
    Array.from({ length: 40 }, () => ana.post('/v1/upload', { filename: 'a.wav' })),
  )
  const reads = [await service.fetch('/v1/health'), await ana.get('/v1/transcriptions')]
  // Only the first of the 40 writes waits for the database lock. All later writes fail at once.
  expect(performance.now() - startedAt).toBeLessThan(limits.serverBusyMs * 10)
  expect(new Set(writes.map(({ status, body }) => `${status} ${body.error.code}`))).toEqual(
    new Set(['503 SERVICE_UNAVAILABLE']),
  )
  expect(writes[0]?.headers.get('retry-after')).toBe('1')
  expect(reads.map(({ status }) => status)).toEqual([200, 200])
  expect((await service.fetch('/v1/ready')).body.database).toBe(false)
  lock.free()
  expect((await ana.post('/v1/upload', { filename: 'a.wav' })).status).toBe(200)
})

test('a PUT waits while another process holds the write lock, and blocks no other request', async () => {
  const service = await startTestService()
  const { body } = await service.account('ana').post('/v1/upload', { filename: 'a.wav' })
  const lock = lockDatabase(service)
  const put = fetch(body.upload_url, { method: 'PUT', headers: body.headers, body: 'bytes' })
  await Bun.sleep(2 * limits.serverBusyMs)
  expect((await service.fetch('/v1/health')).status).toBe(200)
  lock.free()
  expect((await put).status).toBe(200)
})

test('a write that fails because the disk reports an error gets 503, which does not call the disk full', () => {
  const error = Object.assign(new Error('disk I/O error'), {
    name: 'SQLiteError',
    code: 'SQLITE_IOERR_WRITE',
  })
  expect(toApiError(error, 'UNKNOWN', {})).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: 'The disk of this service reports an error; try again later.',
  })
})

test('a file that the disk refuses gets 507 if the disk is full, and 503 if it is read-only or damaged', () => {
  const answerTo = (code: string) => toApiError(Object.assign(new Error(code), { code }), 'UNKNOWN', {}).code
  expect(['ENOSPC', 'EDQUOT'].map(answerTo)).toEqual(['INSUFFICIENT_STORAGE', 'INSUFFICIENT_STORAGE'])
  expect(['EROFS', 'EIO'].map(answerTo)).toEqual(['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'])
  expect(answerTo('ENOENT')).toBe('INTERNAL_ERROR')
})

steered('a write that fails because the disk is full gets 507', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const disk = fillDisk(service)
  const answers = []
  for (let count = 0; count < 40; count++) answers.push(await ana.post('/v1/upload', { filename: 'a.wav' }))
  expect(answers.at(-1)).toMatchObject({ status: 507, body: { error: { code: 'INSUFFICIENT_STORAGE' } } })
  disk.free()
  expect((await ana.post('/v1/upload', { filename: 'a.wav' })).status).toBe(200)
})

function lockDatabase({ dataDir }: TestService) {
  const other = new Database(databasePath(dataDir))
  other.run('begin immediate')
  return { free: () => other.close() }
}

/**
 * Simulates a full disk: the database file is full and cannot grow. The returned function `free` ends the simulation.
 */
function fillDisk({ db }: TestService) {
  db.run('create table filler (bytes blob) strict')
  db.run('pragma max_page_count = 1')
  const fill = () => {
    for (;;) db.run('insert into filler values (zeroblob(300))')
  }
  expect(fill).toThrow('full')
  return { free: () => void db.run('pragma max_page_count = 4294967294') }
}

/** Waits for 20 iterations of the event loop, so that all callbacks that are due have run. */
async function turns(): Promise<void> {
  for (let count = 0; count < 20; count++) await new Promise(resolve => setImmediate(resolve))
}
