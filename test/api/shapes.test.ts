import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { jobQuery } from '../../src/api/shapes/exports.ts'
import { listQuery } from '../../src/api/shapes/transcriptions.ts'
import type { Inspection } from '../../src/media/media.ts'
import { checkAnswer, checkEvent } from '../support/answers.ts'
import { speech } from '../support/media.ts'
import { shareServices, startTestService, steered } from '../support/service.ts'

shareServices()

// Few tests of this file compare a response with its schema themselves: `startTestService` does this for every JSON
// response, and `startReceiver` for every webhook.

steered('a transcription has its declared shape in every state', async () => {
  const inspection = Promise.withResolvers<Inspection>()
  const service = await startTestService({ parts: { media: { inspect: () => inspection.promise } } })
  const ana = service.account('ana')
  const status = async (id: string) => (await ana.job(id)).status

  const downloading = (await ana.post('/v1/transcribe', { url: 'https://media.example/a.mp3' })).body.id
  const first = await ana.transcribe(speech(5), { diarize: true, speaker_count: 2 })
  const second = await ana.transcribe(speech(5), { align: false })
  expect([await status(downloading), await status(first)]).toEqual(['downloading', 'created'])

  inspection.resolve({ container: 'wav', codec: 'pcm', sampleRate: 16_000, channels: 1, durationMs: 5000 })
  const task = await service.engine.given(1)
  expect([await status(first), await status(second)].toSorted()).toEqual(['pending', 'processing'])

  service.engine.finish(task)
  await service.engine.given(2)
  await ana.post(`/v1/transcribe/${second}/cancel`)
  await ana.post(`/v1/transcribe/${first}/cancel`)
  expect([await status(first), await status(second)].toSorted()).toEqual(['completed', 'failed'])
  expect((await ana.get('/v1/transcriptions')).body.items).toHaveLength(3)
})

test('a response or event with a missing, wrong or undeclared field is detected', () => {
  const failed = {
    event: 'transcription.failed',
    transcription_id: '0199a0c5-5a0e-7cc2-8d7e-6f5f0a3c2b11',
    metadata: {},
    status: 'failed',
    error: { code: 'CANCELLED', message: '' },
  }
  checkAnswer('GET', '/v1/health?x', 200, () => ({ status: 'ok' }))
  checkEvent(failed)
  expect(() => checkAnswer('GET', '/v1/health', 200, () => ({}))).toThrow()
  expect(() => checkAnswer('GET', '/v1/health', 200, () => ({ status: 'ok', uptime: 1 }))).toThrow()
  expect(() => checkAnswer('GET', '/v1/transcribe/x', 200, () => ({ error: 'x' }))).toThrow()
  expect(() => checkAnswer('GET', '/v1/transcribe/x', 404, () => ({ status: 'ok' }))).toThrow()
  expect(() => checkEvent({ ...failed, error: { code: 'NO_SUCH_CODE', message: '' } } as never)).toThrow()
  expect(() => checkEvent({ ...failed, result: null } as never)).toThrow()
  expect(() => checkEvent({ event: 'transcription.renamed' })).toThrow()
})

// The schema must reject these values before they are decoded. Elysia recognises a decoding error only by its class
// name, which may be different in the built program. The answer to such a request would then be an internal error
// (500).
test('a query out of range fails validation before it is decoded', () => {
  for (const limit of ['0', '201', '-1', '1.5', '1e1', ' 5', '']) {
    expect([limit, Value.Check(listQuery, { limit })]).toEqual([limit, false])
  }
  expect(Value.Decode(listQuery, { limit: '200' })).toEqual({ limit: 200 })
  expect(Value.Check(jobQuery, { sentence_aware: 'yes' })).toBe(false)
  expect(Value.Decode(jobQuery, { sentence_aware: 'false' })).toEqual({ sentence_aware: false })
})
