import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { revokeKey } from '../../src/accounts/key.ts'
import { JobFailure } from '../../src/errors.ts'
import { limits } from '../../src/limits.ts'
import type { Media } from '../../src/media/media.ts'
import { uploadPath } from '../../src/uploads/disk.ts'
import { defaults } from '../support/defaults.ts'
import { steeredEngine, transcriptOf } from '../support/engine.ts'
import { speech, statedMedia } from '../support/media.ts'
import { startReceiver } from '../support/receiver.ts'
import { shareServices, startTestService, steered, type TestService } from '../support/service.ts'

shareServices()

const unlimited = { settings: { STENO_RATE_LIMITS: 'off' } }

steered('a job goes from created to completed and is charged by the second', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana', { credit: 500 })
  const uploadId = await ana.upload(speech(11.7))

  const submitted = await ana.post('/v1/transcribe', { upload_id: uploadId })
  expect(submitted.status).toBe(200)
  expect(submitted.body).toEqual({ id: expect.any(String), status: 'created', message: expect.any(String) })
  const { id } = submitted.body

  const task = await service.engine.given(1)
  const cost = (11 * defaults.pricePerHourCents) / 3600
  expect(await ana.until(id, 'processing')).toMatchObject({ audio_duration_seconds: 11, cost_cents: cost })
  expect(await ana.balance()).toMatchObject({
    balance_cents: 500,
    reserved_cents: cost,
    available_cents: 500 - cost,
  })

  service.engine.finish(task, 'Good morning everybody.')
  const job = await ana.until(id, 'completed')
  expect(job).toEqual({
    id,
    status: 'completed',
    audio_duration_seconds: 11,
    filename: 'talk.mp3',
    file_size_bytes: speech(11.7).length,
    language: 'en',
    diarize: false,
    name_speakers: false,
    speaker_count: null,
    align: true,
    channels: 'mix',
    metadata: {},
    cost_cents: cost,
    progress: 'Done',
    progress_percent: 100,
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    started_at: expect.stringMatching(/Z$/),
    completed_at: expect.stringMatching(/Z$/),
    edited_at: null,
    result: expect.objectContaining({
      full_transcript: 'Good morning everybody.',
      language: 'en',
      duration_seconds: 11.7,
      speakers: null,
    }),
  })
  expect(await ana.balance()).toMatchObject({ balance_cents: 500 - cost, reserved_cents: 0 })
})

steered('a new job has every field, null while it is unknown', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const { body } = await ana.post('/v1/transcribe', { url: 'https://media.example/talk.mp3' })
  expect(await ana.job(body.id)).toMatchObject({
    audio_duration_seconds: null,
    file_size_bytes: null,
    filename: null,
    language: null,
    speaker_count: null,
    cost_cents: null,
    started_at: null,
    completed_at: null,
    source_url: 'https://media.example/talk.mp3',
  })
  expect(await ana.job(body.id)).not.toHaveProperty('result')
  expect(await ana.job(body.id)).not.toHaveProperty('error')
})

steered('diarize turns align on', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(5), { diarize: true, speaker_count: 2, align: false })
  const { input } = await service.engine.given(1)
  expect(input).toMatchObject({ diarize: true, speakerCount: 2, align: true })
  expect(await ana.job(id)).toMatchObject({ diarize: true, speaker_count: 2, align: true })
})

steered('the prompt and the vocabulary go to the engine', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const context = { prompt: 'Hello, Dr. Wójcik.', vocabulary: ['kubectl', 'Grafana'] }
  await ana.transcribe(speech(5), context)
  const { input } = await service.engine.given(1)
  expect(input).toMatchObject(context)
})

steered('a cancel releases the reserve, and a second cancel gets the same answer', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana', { credit: 500 })
  const id = await ana.transcribe(speech(3600))
  const { options } = await service.engine.given(1)

  const cancelled = await ana.post(`/v1/transcribe/${id}/cancel`)
  expect(cancelled.status).toBe(200)
  expect(cancelled.body).toEqual({
    id,
    status: 'failed',
    error: { code: 'CANCELLED', message: expect.any(String) },
    released_cents: defaults.pricePerHourCents,
  })
  expect(options.signal.aborted).toBe(true)
  expect((await ana.post(`/v1/transcribe/${id}/cancel`)).body).toEqual(cancelled.body)
  expect(await ana.balance()).toMatchObject({ balance_cents: 500, reserved_cents: 0 })
  expect(await ana.job(id)).toMatchObject({ status: 'failed', cost_cents: 0, error: { code: 'CANCELLED' } })
})

steered('the transcript of a cancelled job is dropped', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const id = await ana.transcribe()
  const task = await service.engine.given(1)
  await ana.post(`/v1/transcribe/${id}/cancel`)
  service.engine.finish(task)
  expect(await ana.job(id)).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } })
})

steered('an ended job cannot be cancelled, and a running one cannot be deleted', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const id = await ana.transcribe()
  const task = await service.engine.given(1)
  expect((await ana.delete(`/v1/transcribe/${id}`)).body.error.code).toBe('CONFLICT')
  service.engine.finish(task)
  await ana.until(id, 'completed')
  const cancel = await ana.post(`/v1/transcribe/${id}/cancel`)
  expect([cancel.status, cancel.body.error.code]).toEqual([409, 'CONFLICT'])
})

steered('a deleted job has no transcript and no media, and can be deleted again', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const uploadId = await ana.upload()
  const { id } = (await ana.post('/v1/transcribe', { upload_id: uploadId })).body
  service.engine.finish(await service.engine.given(1), 'quite unmistakable words')
  await ana.until(id, 'completed')
  const file = uploadPath(service.dataDir, uploadId)
  expect(existsSync(file)).toBe(true)

  const deleted = await ana.delete(`/v1/transcribe/${id}`)
  expect([deleted.status, deleted.text]).toEqual([204, ''])
  expect(existsSync(file)).toBe(false)
  // The indexer removes the text from the search index in the background. This step of the clock ends the indexer's
  // pause.
  service.later(60_000)
  await service.indexed()
  service.later(0)
  expect(await filesContaining(service.dataDir, 'unmistakable')).toEqual([])
  expect((await ana.get(`/v1/transcribe/${id}`)).body.error.code).toBe('TRANSCRIPTION_NOT_FOUND')
  expect((await ana.post(`/v1/transcribe/${id}/cancel`)).status).toBe(404)
  expect((await ana.get('/v1/transcriptions')).body.items).toEqual([])
  expect((await ana.delete(`/v1/transcribe/${id}`)).status).toBe(204)

  service.later(defaults.deletedRetentionMs)
  expect((await ana.delete(`/v1/transcribe/${id}`)).status).toBe(404)
})

test('the length of a text is counted in characters, not in UTF-16 code units', async () => {
  const service = await startTestService(unlimited)
  const emoji = (count: number) => '😀'.repeat(count)
  const texts = { prompt: emoji(1000), vocabulary: [emoji(80)], metadata: { [emoji(64)]: emoji(500) } }
  const answer = await service
    .account('ana')
    .post('/v1/transcribe', { url: 'https://a.example/x.mp3', ...texts })
  expect(answer.status).toBe(200)
})

test('the job of another account is not found', async () => {
  const service = await startTestService(unlimited)
  const [ana, ben] = [service.account('ana'), service.account('ben')]
  const id = await ana.transcribe()
  const answers = [
    await ben.get(`/v1/transcribe/${id}`),
    await ben.post(`/v1/transcribe/${id}/cancel`),
    await ben.delete(`/v1/transcribe/${id}`),
  ]
  for (const { status, body } of answers) {
    expect([status, body.error.code]).toEqual([404, 'TRANSCRIPTION_NOT_FOUND'])
  }
  const stolen = await ben.post('/v1/transcribe', { upload_id: await ana.upload() })
  expect([stolen.status, stolen.body.error.code]).toEqual([404, 'UPLOAD_NOT_FOUND'])
})

const refusals: [string, object, string][] = [
  ['neither url nor upload', {}, 'url'],
  ['both url and upload', { url: 'https://a.example/x.mp3', upload_id: 'x' }, 'exactly one'],
  ['another scheme', { url: 'ftp://a.example/x.mp3' }, 'url'],
  ['a url that is no address', { url: 'nonsense' }, 'url'],
  ['a url that is too long', { url: `https://a.example/${'x'.repeat(limits.urlLengthMax)}` }, 'url'],
  ['an unknown field', { url: 'https://a.example/x.mp3', colour: 'red' }, 'colour'],
  ['a field with an inherited name', { url: 'https://a.example/x.mp3', constructor: 1 }, 'constructor'],
  [
    'an unknown language',
    { url: 'https://a.example/x.mp3', language: 'auto' },
    'language is not a supported code; GET /v1 lists them; without language it is detected.',
  ],
  ['a language in capitals', { url: 'https://a.example/x.mp3', language: 'EN' }, 'use en.'],
  ['a language with a region', { url: 'https://a.example/x.mp3', language: 'en-US' }, 'use en.'],
  ['a speaker_count without diarize', { url: 'https://a.example/x.mp3', speaker_count: 2 }, 'speaker_count'],
  [
    'a speaker_count of 0',
    { url: 'https://a.example/x.mp3', diarize: true, speaker_count: 0 },
    'speaker_count',
  ],
  [
    'a speaker_count of 51',
    { url: 'https://a.example/x.mp3', diarize: true, speaker_count: 51 },
    'speaker_count',
  ],
  [
    'a speaker_count of 1.5',
    { url: 'https://a.example/x.mp3', diarize: true, speaker_count: 1.5 },
    'speaker_count',
  ],
  [
    'a speaker_count as a string',
    { url: 'https://a.example/x.mp3', diarize: true, speaker_count: '2' },
    'speaker_count',
  ],
  ['a prompt of 1,001 characters', { url: 'https://a.example/x.mp3', prompt: 'a'.repeat(1001) }, 'prompt'],
  ['metadata as a list', { url: 'https://a.example/x.mp3', metadata: ['a'] }, 'metadata'],
  ['metadata as a text', { url: 'https://a.example/x.mp3', metadata: 'a' }, 'metadata'],
  ['a number in metadata', { url: 'https://a.example/x.mp3', metadata: { a: 1 } }, 'metadata'],
  [
    'a number in metadata under a name of two lines',
    { url: 'https://a.example/x.mp3', metadata: { 'a\nb': 1 } },
    'metadata',
  ],
  ['an object in metadata', { url: 'https://a.example/x.mp3', metadata: { a: {} } }, 'metadata'],
  ['null in metadata', { url: 'https://a.example/x.mp3', metadata: { a: null } }, 'metadata'],
  [
    '501 characters in metadata',
    { url: 'https://a.example/x.mp3', metadata: { a: 'a'.repeat(501) } },
    'metadata',
  ],
  [
    '17 fields of metadata',
    {
      url: 'https://a.example/x.mp3',
      metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`${at}`, ''])),
    },
    'metadata',
  ],
  [
    'a long name in metadata',
    { url: 'https://a.example/x.mp3', metadata: { ['a'.repeat(65)]: '' } },
    'metadata',
  ],
  ['an empty name in metadata', { url: 'https://a.example/x.mp3', metadata: { '': 'a' } }, 'metadata'],
  [
    'channels split with diarize',
    { url: 'https://a.example/x.mp3', channels: 'split', diarize: true },
    'channels',
  ],
  ['unknown channels', { url: 'https://a.example/x.mp3', channels: 'left' }, 'channels'],
  ['101 terms', { url: 'https://a.example/x.mp3', vocabulary: Array(101).fill('a') }, 'vocabulary'],
  ['a term of 81 characters', { url: 'https://a.example/x.mp3', vocabulary: ['a'.repeat(81)] }, 'vocabulary'],
  ['a vocabulary as a string', { url: 'https://a.example/x.mp3', vocabulary: 'a' }, 'vocabulary'],
  ['diarize as a string', { url: 'https://a.example/x.mp3', diarize: 'yes' }, 'diarize'],
  [
    'a webhook over plain http',
    { url: 'https://a.example/x.mp3', webhook_url: 'http://a.example/' },
    'webhook_url',
  ],
  [
    'a webhook to a private address',
    { url: 'https://a.example/x.mp3', webhook_url: 'https://10.0.0.1/' },
    'webhook_url',
  ],
]
test.each(refusals)(
  'a submission with %s is refused, and the message names the field',
  async (_, body, named) => {
    const service = await startTestService(unlimited)
    const ana = service.account('ana')
    const answer = await ana.post('/v1/transcribe', body)
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST'])
    expect(answer.body.error.message).toContain(named)
  },
)

test.each([
  [{ diarize: 'yes' }, 'diarize is not valid: tell speakers apart (boolean).'],
  [
    { speaker_count: 51 },
    'speaker_count is not valid: how many speakers are expected; needs diarize (integer, 1 to 50).',
  ],
  [
    { vocabulary: 'a' },
    'vocabulary is not valid: terms that may be said, at most 100 of 80 characters (array, up to 100 items).',
  ],
  [
    { metadata: { a: 1 } },
    'metadata is not valid: at most 16 texts of up to 500 characters, with names of up to 64; jobs and webhooks show them (object).',
  ],
])('the message about the field in %j says what is wanted', async (field, message) => {
  const ana = (await startTestService(unlimited)).account('ana')
  const { body } = await ana.post('/v1/transcribe', { url: 'https://a.example/x.mp3', ...field })
  expect(body.error.message).toBe(message)
})

test('a field that is null counts as missing', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const answer = await ana.post('/v1/transcribe', {
    url: null,
    upload_id: await ana.upload(),
    language: null,
    diarize: null,
    speaker_count: null,
    align: null,
    webhook_url: null,
  })
  expect(answer.status).toBe(200)
  expect(await ana.job(answer.body.id)).toMatchObject({ diarize: false, align: true, speaker_count: null })
})

steered('an upload serves one job, and the refusal of a second one has a reason', async () => {
  const service = await startTestService({
    settings: { STENO_RATE_LIMITS: 'off', STENO_MAX_FILE_SIZE: '1KB' },
  })
  const ana = service.account('ana')
  const codeFor = async (upload_id: string) =>
    (await ana.post('/v1/transcribe', { upload_id })).body.error?.code ?? 'accepted'

  const used = await ana.upload()
  expect(await codeFor(used)).toBe('accepted')
  expect(await codeFor(used)).toBe('UPLOAD_ALREADY_USED')
  expect(await codeFor('01900000-0000-7000-8000-000000000000')).toBe('UPLOAD_NOT_FOUND')
  expect(await codeFor((await ana.post('/v1/upload', { filename: 'a.mp3' })).body.upload_id)).toBe(
    'FILE_NOT_UPLOADED',
  )
  const empty = await ana.upload('')
  const refused = (await ana.post('/v1/transcribe', { upload_id: empty })).body.error
  expect([refused.code, refused.message]).toEqual(['FILE_NOT_UPLOADED', expect.stringContaining('empty')])
  const large = (await ana.post('/v1/upload', { filename: 'a.mp3' })).body
  const put = await fetch(large.upload_url, { method: 'PUT', headers: large.headers, body: 'x'.repeat(1025) })
  expect(put.status).toBe(413)
  expect(await codeFor(large.upload_id)).toBe('FILE_TOO_LARGE')
  const late = await ana.upload()
  service.later(defaults.uploadTtlMs)
  expect(await codeFor(late)).toBe('UPLOAD_EXPIRED')
})

test('a refused submission leaves its upload usable', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const upload_id = await ana.upload()
  expect((await ana.post('/v1/transcribe', { upload_id, language: 'xx' })).status).toBe(400)
  expect((await ana.post('/v1/transcribe', { upload_id })).status).toBe(200)
})

steered('without available money no job starts', async () => {
  const service = await startTestService(unlimited)
  const poor = service.account('poor', { credit: 0 })
  const refused = await poor.post('/v1/transcribe', { url: 'https://a.example/x.mp3' })
  expect([refused.status, refused.body.error.code]).toEqual([402, 'ZERO_BALANCE'])
  expect((await poor.post('/v1/upload', { filename: 'a.mp3' })).body.error.code).toBe('ZERO_BALANCE')

  const ana = service.account('ana', { credit: defaults.pricePerHourCents * 5 })
  await ana.transcribe(speech(3600 * 5))
  await service.engine.given(1)
  const more = await ana.post('/v1/transcribe', { url: 'https://a.example/x.mp3' })
  expect([more.status, more.body.error.code]).toEqual([402, 'INSUFFICIENT_BALANCE'])
})

steered('a file that costs more than the balance fails when its length is known', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana', { credit: 1 })
  const id = await ana.transcribe(speech(3600))
  expect(await ana.until(id, 'failed')).toMatchObject({
    cost_cents: 0,
    error: { code: 'INSUFFICIENT_BALANCE' },
  })
  expect(await ana.balance()).toMatchObject({ balance_cents: 1, reserved_cents: 0 })
})

steered('without a price no balance is needed', async () => {
  const service = await startTestService({
    settings: { STENO_RATE_LIMITS: 'off', STENO_PRICE_PER_HOUR_CENTS: '0' },
  })
  const ana = service.account('ana', { credit: 0 })
  const id = await ana.transcribe()
  service.engine.finish(await service.engine.given(1))
  expect(await ana.until(id, 'completed')).toMatchObject({ cost_cents: 0 })
  expect(await ana.balance()).toMatchObject({ balance_cents: 0, estimated_hours_available: null })
})

test('a file that is not media is accepted, and its job fails', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const id = await ana.transcribe('not media at all')
  expect(await ana.until(id, 'failed')).toMatchObject({
    error: { code: 'INVALID_MEDIA_FORMAT' },
    cost_cents: 0,
  })
})

steered('the caller sees the reason of a job failure, and no detail of an unexpected error', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const told = await ana.transcribe()
  ;(await service.engine.given(1)).reject(
    new JobFailure('PROCESSING_ERROR', 'The model knows no such language.'),
  )
  expect((await ana.until(told, 'failed')).error).toEqual({
    code: 'PROCESSING_ERROR',
    message: 'The model knows no such language.',
  })
  const broken = await ana.transcribe()
  ;(await service.engine.given(2)).reject(new Error('/secret/path is broken'))
  const { error } = await ana.until(broken, 'failed')
  expect(error.code).toBe('INTERNAL_ERROR')
  expect(error.message).not.toContain('/secret')
})

steered('jobs wait in pending, and accounts take turns', async () => {
  const service = await startTestService(unlimited)
  const [ana, ben] = [service.account('ana'), service.account('ben')]
  const submitted: string[] = []
  const submit = async (who: typeof ana, seconds: number) => {
    const id = await who.transcribe(speech(seconds))
    await who.until(id, 'pending', 'processing')
    submitted.push(id)
  }
  for (const seconds of [101, 102, 103]) await submit(ana, seconds)
  await submit(ben, 201)
  expect(await ana.job(submitted[0]!)).toMatchObject({ status: 'processing' })
  expect(await ana.job(submitted[1]!)).toMatchObject({ status: 'pending', started_at: null })
  expect((await ana.balance()).reserved_cents).toBeGreaterThan(0)

  const served: number[] = []
  for (let count = 1; count <= 4; count++) {
    const task = await service.engine.given(count)
    served.push(task.input.durationMs / 1000)
    service.engine.finish(task)
  }
  expect(served).toEqual([101, 201, 102, 103])
})

steered('an engine that is not ready leaves jobs pending until it is', async () => {
  const service = await startTestService(unlimited)
  service.engine.setReady(false)
  const ana = service.account('ana')
  const id = await ana.transcribe()
  await ana.until(id, 'pending')
  service.engine.setReady(true)
  await service.engine.given(1)
  expect(await ana.job(id)).toMatchObject({ status: 'processing' })
})

steered('a completed job says which model made it and what may be wrong; exports do not', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const id = await ana.transcribe()
  const task = await service.engine.given(1)
  const made = { model: 'base', warnings: ['Speech was heard but not understood at 3 s.'] }
  task.resolve({ ...transcriptOf(task.input, 'Good morning.'), ...made })
  expect((await ana.until(id, 'completed')).result).toMatchObject(made)
  for (const format of ['srt', 'vtt', 'text']) {
    const { text } = await ana.get(`/v1/transcribe/${id}?format=${format}`)
    expect(text).toContain('morning.')
    expect(text).not.toMatch(/base|understood/)
  }
})

steered('a transcript of an older version has neither model nor warnings', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const id = await ana.transcribe()
  service.engine.finish(await service.engine.given(1))
  const { result } = await ana.until(id, 'completed')
  expect(result).not.toHaveProperty('model')
  expect(result).not.toHaveProperty('warnings')
})

steered('progress is a sentence and a percentage', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(10))
  const { options } = await service.engine.given(1)
  options.onSeconds(5)
  expect(await ana.job(id)).toMatchObject({
    progress: 'Transcribing 50 % (00:05 of 00:10)',
    progress_percent: 50,
  })
  const pending = await ana.transcribe(speech(10))
  expect(await ana.until(pending, 'pending')).toMatchObject({ progress_percent: null })
  service.engine.finish(await service.engine.given(1))
  expect(await ana.until(id, 'completed')).toMatchObject({ progress_percent: 100 })
  await service.engine.given(2)
  await ana.post(`/v1/transcribe/${pending}/cancel`)
  expect(await ana.job(pending)).toMatchObject({ status: 'failed', progress_percent: 0 })
})

steered('a request with wait is answered when the job ends', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(10))
  const task = await service.engine.given(1)
  const waiting = [
    ana.get(`/v1/transcribe/${id}?wait=60`),
    ana.get(`/v1/transcribe/${id}?wait=60&format=text`),
  ]
  expect((await ana.get(`/v1/transcribe/${id}?wait=0`)).body.status).toBe('processing')
  expect((await service.account('ben').get(`/v1/transcribe/${id}?wait=60`)).status).toBe(404)
  service.engine.finish(task, 'Good morning.')
  const [job, text] = await Promise.all(waiting)
  expect(job?.body).toMatchObject({ status: 'completed', result: { full_transcript: 'Good morning.' } })
  expect(text?.text).toContain('Good morning.')
  expect((await ana.get(`/v1/transcribe/${id}?wait=60`)).body.status).toBe('completed')
})

steered('a request with wait is answered at its time when the job has not ended', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off', STENO_REQUEST_IDLE: '1s' } })
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(2))
  await service.engine.given(1)
  const askedAt = performance.now()
  const { status, body } = await ana.get(`/v1/transcribe/${id}?wait=2`)
  expect([status, body.status]).toEqual([200, 'processing'])
  expect(performance.now() - askedAt).toBeGreaterThan(1990)
})

test('wait is a whole number of at most 60 seconds, and an unknown job is not waited for', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  for (const wait of ['61', '-1', '1.5', 'x', '']) {
    const { status, body } = await ana.get(`/v1/transcribe/any?wait=${wait}`)
    expect([wait, status, body.error.message]).toEqual([
      wait,
      400,
      expect.stringMatching(/^wait is not valid/),
    ])
  }
  expect((await ana.get('/v1/transcribe/any?wait=60')).status).toBe(404)
})

steered('requests that wait are answered when the service stops', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(10))
  await service.engine.given(1)
  const registered = nextWait(service)
  const waiting = ana.get(`/v1/transcribe/${id}?wait=60`)
  await registered
  await service.stop()
  expect((await waiting).body.status).toBe('processing')
})

steered('a request with wait gets 401 if its key is revoked during the wait', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(10))
  const task = await service.engine.given(1)
  const registered = nextWait(service)
  const waiting = ana.get(`/v1/transcribe/${id}?wait=60`)
  await registered
  revokeKey(service.db, ana.keyId)
  service.engine.finish(task, 'Good morning.')
  expect((await waiting).body.error.code).toBe('API_KEY_REVOKED')
})

/** Resolves when the next request with `wait` has begun to wait for its job. */
function nextWait({ live }: TestService): Promise<void> {
  const registered = Promise.withResolvers<void>()
  const ended = live.ended.bind(live)
  live.ended = (...args) => {
    const waited = ended(...args)
    registered.resolve()
    return waited
  }
  return registered.promise
}

steered('an engine of capacity two runs two jobs at once', async () => {
  const service = await startTestService({ ...unlimited, parts: { engine: steeredEngine({ capacity: 2 }) } })
  const ana = service.account('ana')
  for (const seconds of [10, 20, 30]) await ana.transcribe(speech(seconds))
  await service.engine.given(2)
  const { items } = (await ana.get('/v1/transcriptions?status=processing')).body
  expect(items).toHaveLength(2)
})

steered('every state but pending has a timeout', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const downloading = (await ana.post('/v1/transcribe', { url: 'https://slow.example/x.mp3' })).body.id
  await ana.until(downloading, 'downloading')
  const processing = await ana.transcribe(speech(10))
  await service.engine.given(1)
  const pending = await ana.transcribe(speech(20))
  await ana.until(pending, 'pending')

  service.later(defaults.downloadingTimeoutMs + 1)
  expect((await ana.job(downloading)).error.code).toBe('DOWNLOAD_TIMEOUT')
  expect(await ana.job(processing)).toMatchObject({ status: 'processing' })
  service.later(defaults.processingTimeoutMs - defaults.downloadingTimeoutMs + 1)
  expect((await ana.job(processing)).error.code).toBe('PROCESSING_TIMEOUT')
  await service.engine.given(2)
  expect(await ana.job(pending)).toMatchObject({ status: 'processing' })
})

async function filesContaining(folder: string, text: string): Promise<string[]> {
  const found: string[] = []
  for await (const path of new Bun.Glob('**/*').scan({ cwd: folder, absolute: true, onlyFiles: true })) {
    if (Buffer.from(await Bun.file(path).arrayBuffer()).includes(text)) found.push(path)
  }
  return found
}

steered(
  'metadata is in the job, in the list and in every webhook, and goes with the transcript',
  async () => {
    const service = await startTestService({ settings: { STENO_ALLOW_NETS: '127.0.0.0/8' } })
    const ana = service.account('ana')
    const receiver = startReceiver()
    const metadata = { call: '4711', 'Größe "x"': '\u2028 <b>', constructor: 'y', empty: '' }
    const id = await ana.transcribe(undefined, { metadata, webhook_url: receiver.url })
    service.engine.finish(await service.engine.given(1))
    expect((await ana.until(id, 'completed')).metadata).toEqual(metadata)
    expect((await ana.get('/v1/transcriptions')).body.items[0].metadata).toEqual(metadata)
    await receiver.got(2)
    expect(receiver.received.map(({ body }) => body.metadata)).toEqual([metadata, metadata])
    await ana.delete(`/v1/transcribe/${id}`)
    expect(service.db.find('select metadata from jobs where id = $id', { id })).toEqual({ metadata: null })
  },
)

steered('with channels split, the engine hears as many channels as the recording has', async () => {
  const media = (channels: number): Media => ({
    inspect: async (path, options) => ({ ...(await statedMedia.inspect(path, options)), channels }),
  })
  const service = await startTestService({ parts: { media: media(2) } })
  const ana = service.account('ana')
  const split = await ana.transcribe(speech(60), { channels: 'split' })
  const task = await service.engine.given(1)
  expect(task.input.channels).toBe(2)
  service.engine.finish(task)
  expect(await ana.until(split, 'completed')).toMatchObject({ channels: 'split', audio_duration_seconds: 60 })
  await ana.transcribe(speech(60), { channels: 'mix' })
  expect((await service.engine.given(2)).input.channels).toBeNull()

  const many = await startTestService({ parts: { media: media(limits.splitChannelsMax + 1) } })
  const ben = many.account('ben')
  const { error } = await ben.until(await ben.transcribe(speech(60), { channels: 'split' }), 'failed')
  expect(error).toMatchObject({
    code: 'INVALID_MEDIA_FORMAT',
    message: expect.stringContaining('9 channels'),
  })
})
