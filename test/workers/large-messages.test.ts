// Tests jobs with messages that are larger than NATS allows (here 16 KB).

import { afterAll, expect } from 'bun:test'
import { findJob } from '../../src/jobs/job.ts'
import { charges, startFleet } from '../support/fleet.ts'
import { natsTest, sharedNats } from '../support/nats.ts'

const nats = sharedNats({ settings: 'max_payload: 16KB' })
const messageBytesMax = 16 * 1024

const utterances = Array.from({ length: 100 }, (_, at) => {
  const text = `${at} ${'x'.repeat(1000)}`
  return { start: at / 2, end: at / 2 + 0.5, text, speaker: null, confidence: 0.9, words: [] }
})

natsTest('a job is done although its options and its transcript are larger than NATS allows', async () => {
  const { service, startOwn } = await startFleet(nats.url)
  const ana = service.account('ana')
  const { engine } = await startOwn()
  const vocabulary = Array.from({ length: 100 }, (_, at) => `${at}-${'ü'.repeat(75)}`)
  expect(Buffer.byteLength(JSON.stringify(vocabulary))).toBeLessThan(messageBytesMax)
  const prompt = '語'.repeat(1000)
  const id = await ana.transcribe(undefined, { vocabulary, prompt })
  const task = await engine.given(1)
  expect(task.input).toMatchObject({ vocabulary, prompt })

  const { promise: reported, resolve } = Promise.withResolvers<void>()
  const following = service.live.follow(findJob(service.db, id)!, () => {
    if (following.live.utterances.length) resolve()
  })
  task.options.onUtterances?.(utterances, 0, 'en')
  await reported
  expect(following.live.language).toBe('en')
  const full_transcript = utterances.map(({ text }) => text).join(' ')
  task.resolve({ full_transcript, language: 'en', duration_seconds: 60, speakers: null, utterances })
  expect((await ana.until(id, 'completed')).result.utterances).toEqual(utterances)
  expect(charges(service, id)).toEqual(['reserve', 'settle'])
})

natsTest('a job is done although one of its utterances is larger than NATS allows', async () => {
  const { service, startOwn } = await startFleet(nats.url)
  const ana = service.account('ana')
  const { engine } = await startOwn()
  const id = await ana.transcribe()
  const task = await engine.given(1)
  const [small, ...others] = utterances
  const all = [small!, { ...small!, text: 'x'.repeat(messageBytesMax) }, ...others]
  task.options.onUtterances?.(all, 0, 'en')
  engine.finish(task)
  expect(await ana.until(id, 'completed')).toMatchObject({ status: 'completed' })
})

natsTest('a job that is cancelled while its large result is sent aborts the request', async () => {
  const { service, startOwn } = await startFleet(nats.url)
  const [sent, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const silent = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ method, url, signal }) => {
      const { pathname, search } = new URL(url)
      if (method !== 'PUT') return fetch(`${service.url}${pathname}${search}`)
      signal.addEventListener('abort', () => ended.resolve())
      sent.resolve()
      return new Promise<Response>(() => {})
    },
  })
  afterAll(() => silent.stop(true))
  const ana = service.account('ana')
  const { engine } = await startOwn('gpu-1', undefined, `http://127.0.0.1:${silent.port}`)
  const id = await ana.transcribe()
  engine.finish(await engine.given(1), 'x'.repeat(messageBytesMax))
  await sent.promise
  await ana.post(`/v1/transcribe/${id}/cancel`)
  await ended.promise
  await ana.transcribe()
  await engine.given(2)
})

natsTest(
  'a job fails with the reason if its transcript is larger than a proxy of the server allows',
  async () => {
    const { service, startOwn } = await startFleet(nats.url)
    const proxy = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ method, url }) => {
        const { pathname, search } = new URL(url)
        return method === 'PUT'
          ? new Response(null, { status: 413 })
          : fetch(`${service.url}${pathname}${search}`)
      },
    })
    afterAll(() => proxy.stop(true))
    const ana = service.account('ana')
    const { engine } = await startOwn('gpu-1', undefined, `http://127.0.0.1:${proxy.port}`)
    const id = await ana.transcribe()
    engine.finish(await engine.given(1), 'x'.repeat(messageBytesMax))
    const { error } = await ana.until(id, 'failed')
    expect(error).toEqual({
      code: 'PROCESSING_ERROR',
      message: expect.stringContaining('is larger than the server or a proxy'),
    })
    expect(charges(service, id)).toEqual(['reserve', 'release'])
  },
)
