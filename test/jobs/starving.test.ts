// One account fills a queue with work that never ends or that fails. The work of another account must still end.

import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { restAfter } from '../../src/jobs/ingest.ts'
import { limits } from '../../src/limits.ts'
import type { Media } from '../../src/media/media.ts'
import { speech, statedMedia } from '../support/media.ts'
import { startReceiver } from '../support/receiver.ts'
import { startTestService, steered } from '../support/service.ts'

const settings = { STENO_RATE_LIMITS: 'off', STENO_ALLOW_NETS: '127.0.0.0/8' }
const hostileFile = 'never inspected to its end'

steered('files whose inspection never ends do not hold up the file of another account', async () => {
  const inspections: AbortSignal[] = []
  const media: Media = {
    inspect(path, options) {
      if (readFileSync(path, 'utf8') !== hostileFile) return statedMedia.inspect(path, options)
      inspections.push(options.signal)
      return new Promise((_, reject) =>
        options.signal.addEventListener('abort', () => reject(options.signal.reason)),
      )
    },
  }
  const service = await startTestService({ settings, parts: { media } })
  const [mallory, ana] = [service.account('mallory'), service.account('ana')]
  const waiting = []
  for (let count = 0; count < 2 * limits.inspectionsMax; count++)
    waiting.push(await mallory.transcribe(hostileFile))
  const id = await ana.transcribe(speech(2))
  service.engine.finish(await service.engine.given(1))
  expect(await ana.until(id, 'completed')).toMatchObject({ status: 'completed' })
  expect(inspections).toHaveLength(limits.inspectionsMax - 1)
  for (const each of waiting) expect(await mallory.job(each)).toMatchObject({ status: 'created' })
})

steered('an account whose file cannot be read rests before its next inspection', async () => {
  const rests: { ms: number; end: () => void }[] = []
  const pause = (ms: number) => new Promise<void>(end => rests.push({ ms, end }))
  const service = await startTestService({ settings, parts: { pause } })
  const [mallory, ana] = [service.account('mallory'), service.account('ana')]
  await mallory.until(await mallory.transcribe('not media'), 'failed')
  const next = await mallory.transcribe(speech(2))
  const id = await ana.transcribe(speech(2))
  service.engine.finish(await service.engine.given(1))
  expect(await ana.until(id, 'completed')).toMatchObject({ status: 'completed' })
  expect(await mallory.job(next)).toMatchObject({ status: 'created' })

  expect(rests.map(({ ms }) => ms >= limits.inspectionRestMs.min)).toEqual([true])
  rests[0]?.end()
  service.engine.finish(await service.engine.given(2))
  expect(await mallory.until(next, 'completed')).toMatchObject({ status: 'completed' })
  expect(rests).toHaveLength(1)
})

test('an account rests as long as the inspection took, at least half a second and at most a minute', () => {
  expect([3, 20_000, 1_500_000].map(restAfter)).toEqual([500, 20_000, 60_000])
})

steered('downloads that never end do not hold up the download of another account', async () => {
  const origin = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(speech(2)) })
  afterAll(() => origin.stop(true))
  const resolve = (name: string) =>
    name === 'good.test' ? Promise.resolve(['127.0.0.1']) : new Promise<string[]>(() => {})
  const service = await startTestService({ settings, parts: { resolve } })
  const [mallory, ana] = [service.account('mallory'), service.account('ana')]
  const submit = async (account: typeof ana, url: string) =>
    (await account.post('/v1/transcribe', { url })).body.id
  for (let count = 0; count < 2 * limits.downloadsMax; count++)
    await submit(mallory, 'http://slow.test/a.mp3')
  const id = await submit(ana, `http://good.test:${origin.port}/a.mp3`)
  service.engine.finish(await service.engine.given(1))
  expect(await ana.until(id, 'completed')).toMatchObject({ status: 'completed' })
  const { items } = (await mallory.get('/v1/transcriptions?status=downloading')).body
  expect(items).toHaveLength(0.75 * limits.downloadsMax)
})

steered(
  'webhooks that are never answered do not hold up the webhook of another account',
  async () => {
    const resolve = async () => ['127.0.0.1']
    const service = await startTestService({
      settings: { ...settings, STENO_WEBHOOK_TIMEOUT: '1h' },
      parts: { resolve },
    })
    const [dead, good] = [startReceiver(() => new Promise(() => {})), startReceiver()]
    const [mallory, ana] = [service.account('mallory'), service.account('ana')]
    const submit = async (account: typeof ana, webhook_url: string) =>
      await account.post('/v1/transcribe', { url: 'http://127.0.0.1:1/x', webhook_url })
    const more = limits.webhooksInFlightMax + 100
    const deadHost = (index: number) => dead.url.replace('127.0.0.1', `dead-${index}.test`)
    await Promise.all(Array.from({ length: more }, (_, index) => submit(mallory, deadHost(index))))
    await dead.got(0.75 * limits.webhooksUnansweredMax)
    await submit(ana, good.url)
    await good.got(1)
    expect(good.events()).toEqual(['transcription.failed'])
    expect(dead.received).toHaveLength(0.75 * limits.webhooksUnansweredMax)
  },
  60_000,
)
