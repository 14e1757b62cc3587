// Tests a network that breaks while a worker fetches media, or sends a large result by HTTP. Also tests media that are
// lost before a worker has fetched them.

import { afterAll, expect, spyOn, test } from 'bun:test'
import * as fs from 'node:fs'
import { rmSync, writeFileSync } from 'node:fs'
import { log } from '../../src/base/log.ts'
import { findJob } from '../../src/jobs/job.ts'
import { mediaPath } from '../../src/jobs/media-files.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { fetchMedia } from '../../src/workers/media.ts'
import type { Server } from '../../src/workers/server.ts'
import { steeredEngine, transcriptOf } from '../support/engine.ts'
import { charges, startFleet, until } from '../support/fleet.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startLossyProxy } from '../support/lossy-proxy.ts'
import { speech } from '../support/media.ts'
import { natsTest, sharedNats } from '../support/nats.ts'
import type { TestService } from '../support/service.ts'

const megabyte = 1024 * 1024
// A result above this size is sent by HTTP.
const messageBytesMax = 64 * 1024
const nats = sharedNats({ settings: `max_payload: ${messageBytesMax}` })

natsTest('a transfer of media that is cut goes on where it stopped', async () => {
  const { service, startOwn } = await startFleet(nats.url)
  const ana = service.account('ana')
  const id = await ana.transcribe()
  await ana.until(id, 'pending')
  // Each block of 64 KB is different, so that the test notices a block at a wrong place.
  const media = Buffer.concat(Array.from({ length: 128 }, (_, at) => Buffer.alloc(65_536, at)))
  writeFileSync(mediaPathOf(service, id), media)

  const ranges: string[] = []
  let sent = 0
  const proxy = await startLossyProxy(Number(new URL(service.url).port), (from, bytes) => {
    if (from === 'caller') ranges.push(...(/range: *(bytes=\d+-)/i.exec(`${bytes}`)?.slice(1) ?? []))
    else sent += bytes.length
    if (ranges.length === 0 && sent > 4 * megabyte) proxy.cut()
  })
  const { engine } = await startOwn('gpu-1', steeredEngine(), `http://127.0.0.1:${proxy.port}`)
  const task = await engine.given(1)
  expect(Buffer.from(await Bun.file(task.input.path).bytes()).equals(media)).toBe(true)
  expect(ranges.length).toBeGreaterThan(0)
  expect(Number(/\d+/.exec(ranges[0] ?? '')?.[0])).toBeGreaterThan(0)
  engine.finish(task)
  await ana.until(id, 'completed')
  expect(charges(service, id)).toEqual(['reserve', 'settle'])
  proxy.close()
})

test('a transfer of media that stalls goes on where it stopped', async () => {
  const ranges: (string | null)[] = []
  using stalling = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ headers }) {
      ranges.push(headers.get('range'))
      const isFirst = ranges.at(-1) === null
      const start = (body: ReadableStreamDefaultController) => {
        body.enqueue(isFirst ? 'sou' : 'nd')
        if (!isFirst) body.close()
      }
      const status = isFirst ? {} : { status: 206, headers: { 'Content-Range': 'bytes 3-4/5' } }
      return new Response(new ReadableStream({ start }), status)
    },
  })
  const server = { addressOf: () => stalling.url.href, ask: async () => null } as unknown as Server
  const held = { session: 'x', job: 'job', fence: 1, token: '' }
  const addresses = { media: '', input: '', result: '' }
  const { signal } = new AbortController()
  const path = await fetchMedia(server, held, addresses, temporaryFolder(), signal, 50)
  expect([await Bun.file(path).text(), ranges.at(-1)]).toEqual(['sound', 'bytes=3-'])
})

test('a transfer that ends early goes on at the new address, and from the start if a proxy ignores the range', async () => {
  const paths: string[] = []
  using proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url }) {
      const isFirst = paths.push(new URL(url).pathname) === 1
      if (!isFirst) return new Response('sound')
      return new Response('sou', { status: 206, headers: { 'Content-Range': 'bytes 0-2/5' } })
    },
  })
  const renewed = { kind: 'addresses', addresses: { media: '/new' } }
  const server = {
    addressOf: (path: string) => new URL(path, proxy.url).href,
    ask: async () => renewed,
  } as unknown as Server
  const held = { session: 'x', job: 'job', fence: 1, token: '' }
  const addresses = { media: '/old', input: '', result: '' }
  const { signal } = new AbortController()
  const path = await fetchMedia(server, held, addresses, temporaryFolder(), signal)
  expect([await Bun.file(path).text(), paths]).toEqual(['sound', ['/old', '/new']])
})

test('media without a stated length are whole when the server ends them, and no proxy may compress them', async () => {
  const encodings: (string | null)[] = []
  const { path } = fetchFrom(({ headers }) => {
    encodings.push(headers.get('accept-encoding'))
    return new Response(new ReadableStream({ start: sendSound }))
  })
  expect([await Bun.file(await path).text(), encodings]).toEqual(['sound', ['identity']])
})

test('a worker that stops a job ends the transfer of its media at once, and logs nothing', async () => {
  using warn = spyOn(log, 'warn').mockImplementation(() => {})
  const begun = Promise.withResolvers<void>()
  const { path, stop } = fetchFrom(() => {
    begun.resolve()
    return new Promise<Response>(() => {})
  })
  await begun.promise
  stop.abort(new Error('the job has ended'))
  await expect(path).rejects.toThrow('the job has ended')
  expect(warn).not.toHaveBeenCalled()
})

test('a worker whose disk is full does not try the transfer again', async () => {
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  using _full = spyOn(fs, 'writeSync').mockImplementation(() => {
    throw full
  })
  let count = 0
  const { path, stop } = fetchFrom(() => {
    count += 1
    if (count === 2) stop.abort()
    return new Response('sound')
  })
  await expect(path).rejects.toBe(full)
})

test('a transfer that fails several times for the same reason logs it once', async () => {
  using warn = spyOn(log, 'warn').mockImplementation(() => {})
  let count = 0
  const { path } = fetchFrom(() => (++count < 3 ? new Response('', { status: 503 }) : new Response('sound')))
  expect(await Bun.file(await path).text()).toBe('sound')
  expect(warn.mock.calls).toEqual([
    ['media not fetched yet', { job_id: 'job', reason: expect.stringContaining('503') }],
  ])
})

natsTest(
  'a job whose media the server no longer has fails or downloads them again, and its worker takes the next job',
  async () => {
    const { service, startOwn } = await startFleet(nats.url, { STENO_ALLOW_NETS: '127.0.0.0/8' })
    const origin = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(speech(60)) })
    const ana = service.account('ana')
    const lost = await ana.transcribe()
    const { id: good } = (await ana.post('/v1/transcribe', { url: `${origin.url}talk.mp3` })).body
    for (const id of [lost, good]) await ana.until(id, 'pending')
    const present = new Set([lost, good])
    const proxy = await startLossyProxy(Number(new URL(service.url).port), (from, bytes) => {
      for (const id of from === 'caller' ? present : [])
        if (`${bytes}`.includes(`/${id}/media`) && present.delete(id)) rmSync(mediaPathOf(service, id))
    })
    const { engine } = await startOwn('gpu-1', steeredEngine(), `http://127.0.0.1:${proxy.port}`)
    expect((await ana.until(lost, 'failed')).error).toEqual({
      code: 'INTERNAL_ERROR',
      message: 'The media file is no longer on the server; start the transcription again.',
    })
    engine.finish(await engine.given(1))
    await ana.until(good, 'completed')
    expect([charges(service, lost), charges(service, good)]).toEqual([
      ['reserve', 'release'],
      ['reserve', 'settle'],
    ])
    await origin.stop(true)
    proxy.close()
  },
)

natsTest(
  'a worker that cannot reach its server over HTTP logs the reason, without the signature',
  async () => {
    const { service, startOwn } = await startFleet(nats.url)
    using warn = spyOn(log, 'warn').mockImplementation(() => {})
    await startOwn('gpu-1', steeredEngine(), 'http://127.0.0.1:1')
    const id = await service.account('ana').transcribe()
    const found = () => warn.mock.calls.find(([event]) => event === 'media not fetched yet')
    await until(() => found() !== undefined)
    const reason = `http://127.0.0.1:1/v1/workers/jobs/${id}/media cannot be reached`
    expect(found()?.[1]).toEqual({ job_id: id, reason: expect.stringContaining(reason) })
  },
)

natsTest('a large result that is cut is sent again, and is stored and charged once', async () => {
  let sent = 0
  let puts = 0
  await deliverThrough((from, bytes, cut) => {
    if (from !== 'caller') return
    if (`${bytes.subarray(0, 100)}`.startsWith('PUT ')) puts += 1
    sent += bytes.length
    if (puts === 1 && sent > messageBytesMax) cut()
  })
  expect(puts).toBe(2)
})

natsTest('a large result whose answer is lost is sent again, and is stored and charged once', async () => {
  let puts = 0
  await deliverThrough((from, bytes, cut) => {
    if (from === 'caller' && `${bytes.subarray(0, 100)}`.startsWith('PUT ')) puts += 1
    if (from === 'target' && puts === 1) cut()
  })
  expect(puts).toBe(2)
})

/**
 * Starts to download the media of a job, as a worker does. The function `fetch` answers the requests for the media. The
 * returned `stop` is an AbortController: a test aborts it to end the job.
 */
function fetchFrom(fetch: (request: Request) => Response | Promise<Response>) {
  const media = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch })
  afterAll(() => media.stop(true))
  const server = { addressOf: () => media.url.href, ask: async () => null } as unknown as Server
  const held = { session: 'x', job: 'job', fence: 1, token: '' }
  const addresses = { media: '', input: '', result: '' }
  const stop = new AbortController()
  return { path: fetchMedia(server, held, addresses, temporaryFolder(), stop.signal), stop }
}

/** Sends a body in two parts. Bun therefore does not know the length of the body, and sends no Content-Length. */
function sendSound(body: ReadableStreamDefaultController): void {
  body.enqueue('sou')
  setTimeout(() => {
    body.enqueue('nd')
    body.close()
  }, 0)
}

type Watch = (from: 'caller' | 'target', bytes: Uint8Array, cut: () => void) => void

/**
 * Sends a transcript of 1 MB from a worker through a proxy to the server. Checks that the server has charged the job
 * once and has stored one transcript.
 */
async function deliverThrough(watch: Watch): Promise<void> {
  const { service, startOwn } = await startFleet(nats.url)
  const ana = service.account('ana')
  const proxy = await startLossyProxy(Number(new URL(service.url).port), (from, bytes) =>
    watch(from, bytes, () => proxy.cut()),
  )
  const { engine, worker } = await startOwn('gpu-1', steeredEngine(), `http://127.0.0.1:${proxy.port}`)
  const id = await ana.transcribe()
  const task = await engine.given(1)
  task.resolve(longTranscript(transcriptOf(task.input, 'A word.')))
  const { result } = await ana.until(id, 'completed')
  expect(result.utterances.length).toBe(350)
  // `drain` ends when the worker has no more jobs, so all messages about the result have been sent.
  await worker.drain()
  expect(charges(service, id)).toEqual(['reserve', 'settle'])
  expect(service.db.list('select 1 from transcripts where job_id = $id', { id }).length).toBe(1)
  proxy.close()
}

/** Returns a transcript of about 1 MB. */
function longTranscript({ utterances, ...transcript }: Transcript): Transcript {
  const [first] = utterances
  if (!first) throw new Error('the transcript has no utterance')
  const spoken = Array.from({ length: 350 }, () => ({ ...first, text: 'A word. '.repeat(375) }))
  return { ...transcript, utterances: spoken }
}

function mediaPathOf({ db, dataDir }: TestService, jobId: string): string {
  const job = findJob(db, jobId)
  if (!job) throw new Error('there is no job')
  return mediaPath(dataDir, job)
}
