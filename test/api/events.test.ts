import { expect, mock, spyOn, test } from 'bun:test'
import { revokeKey } from '../../src/accounts/key.ts'
import { openEventStream } from '../../src/api/jobs/event-stream.ts'
import { log } from '../../src/base/log.ts'
import { failJob } from '../../src/jobs/end.ts'
import { findJob, type Job } from '../../src/jobs/job.ts'
import { LiveJobs } from '../../src/jobs/live.ts'
import { setProgress } from '../../src/jobs/progress.ts'
import { rates } from '../../src/limits.ts'
import type { Utterance } from '../../src/transcripts/transcript.ts'
import { eventsOf, readUntil, type ServerEvent } from '../support/event-source.ts'
import { speech } from '../support/media.ts'
import { shareServices, startTestService, steered } from '../support/service.ts'

shareServices()

const unlimited = { settings: { STENO_RATE_LIMITS: 'off' } }

function utterance(text: string): Utterance {
  return { start: 0, end: 1, text, speaker: null, confidence: 0.5, words: [] }
}

/** Starts a service with one running job. */
async function startJob(options: Parameters<typeof startTestService>[0] = unlimited) {
  const service = await startTestService(options)
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(60))
  const task = await service.engine.given(1)
  const open = (headers: Record<string, string> = {}, signal = new AbortController().signal) =>
    fetch(`${service.url}/v1/transcribe/${id}/events`, {
      headers: { Authorization: `Bearer ${ana.key}`, ...headers },
      signal,
    })
  return { service, ana, id, job: findJob(service.db, id)!, task, open }
}

async function all(response: Response): Promise<ServerEvent[]> {
  return Array.fromAsync(eventsOf(response))
}

const isSegment = ({ event }: ServerEvent) => event === 'segment'
const shown = ({ event, data }: ServerEvent) => (event === 'job' ? data.status : data.text)

steered('a stream has each utterance and ends with the ended job', async () => {
  const { service, task, open } = await startJob()
  const response = await open()
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  expect(response.headers.get('cache-control')).toBe('no-store')
  const events = eventsOf(response)
  expect((await readUntil(events, () => true)).map(shown)).toEqual(['processing'])
  task.options.onUtterances?.([utterance('One.'), utterance('Two.')], 0, 'en')
  const [one, two] = await readUntil(events, ({ id }) => id === '2')
  expect(one).toEqual({ event: 'segment', id: '1', data: { index: 0, ...utterance('One.') } })
  expect(two?.data.index).toBe(1)
  task.options.onUtterances?.([utterance('Three.')], 2, 'en')
  service.engine.finish(task)
  const rest = await Array.fromAsync(events)
  expect(rest.map(shown)).toEqual(['Three.', 'completed'])
  expect(rest.at(-1)?.data).not.toHaveProperty('result')
})

steered('a later stream begins with the first utterance, a continued one after the last', async () => {
  const { service, task, open } = await startJob()
  task.options.onUtterances?.(['One.', 'Two.', 'Three.'].map(utterance), 0, 'en')
  const streams = [open(), open({ 'Last-Event-ID': '2' }), open({ 'Last-Event-ID': 'x' })]
  const [whole, continued, unknown] = (await Promise.all(streams)).map(eventsOf)
  const texts = async (events: typeof whole) =>
    (await readUntil(events!, ({ id }) => id === '3')).filter(isSegment).map(shown)
  expect(await texts(whole)).toEqual(['One.', 'Two.', 'Three.'])
  expect(await texts(continued)).toEqual(['Three.'])
  expect(await texts(unknown)).toEqual(['One.', 'Two.', 'Three.'])
  service.engine.finish(task)
})

test('the stream of an ended job has the job and ends', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  // The server refuses a loopback address as a source, so this job fails at once.
  const { body } = await ana.post('/v1/transcribe', { url: 'http://127.0.0.1:1/talk.mp3' })
  await ana.until(body.id, 'failed')
  const events = await all(
    await fetch(`${service.url}/v1/transcribe/${body.id}/events`, { headers: { 'X-Api-Key': ana.key } }),
  )
  expect(events.map(shown)).toEqual(['failed'])
  expect(events[0]?.data.error.code).toBe('URL_NOT_ACCESSIBLE')
})

test('an unknown job and the job of another account get 404 before a stream', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const ben = service.account('ben')
  const { body } = await ana.post('/v1/transcribe', { url: 'http://127.0.0.1:1/talk.mp3' })
  for (const path of ['/v1/transcribe/no-such-job/events', `/v1/transcribe/${body.id}/events`]) {
    const answer = await ben.get(path)
    expect([answer.status, answer.body.error.code]).toEqual([404, 'TRANSCRIPTION_NOT_FOUND'])
  }
})

steered('a stream ends when its key is revoked', async () => {
  const { service, ana, open } = await startJob()
  const events = eventsOf(await open())
  await readUntil(events, () => true)
  revokeKey(service.db, ana.keyId)
  service.later(1)
  expect(await Array.fromAsync(events)).toEqual([])
  expect((await open()).status).toBe(401)
})

steered('a stream tells of a job that a command in another process ended', async () => {
  const { service, id, open } = await startJob()
  const events = eventsOf(await open())
  await readUntil(events, () => true)
  failJob(service.db, id, { code: 'CANCELLED' })
  service.later(1)
  expect((await Array.fromAsync(events)).map(shown)).toEqual(['failed'])
})

steered('a key may have a limited number of streams open, and gets a place back', async () => {
  const { open } = await startJob({ settings: { STENO_RATE_LIMITS: 'events=1000,ip=1000' } })
  const stop = new AbortController()
  for (let count = 0; count < rates['events.open']; count++)
    await readUntil(eventsOf(await open({}, count === 0 ? stop.signal : undefined)), () => true)
  const refused = await open()
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('1')
  stop.abort()
  let again = await open()
  while (again.status === 429) {
    await Bun.sleep(2)
    again = await open()
  }
  expect(again.status).toBe(200)
})

steered('streams end when the service stops', async () => {
  const { service, open } = await startJob()
  const events = eventsOf(await open())
  await readUntil(events, () => true)
  await service.stop()
  expect(await Array.fromAsync(events)).toEqual([])
})

steered('a stream without events has comments, so that no proxy closes it', async () => {
  const { service, job } = await startJob()
  const { stream } = openStream(new LiveJobs(service.db), job, { aliveEveryMs: 1 })
  const events = eventsOf(new Response(stream))
  const read = await readUntil(events, ({ event }) => event === '')
  expect(read.map(({ event }) => event)).toEqual(['job', ''])
})

steered('a client that reads late gets all utterances, but only the last state', async () => {
  const { service, ana, id, job, task } = await startJob()
  const live = new LiveJobs(service.db, { everyMs: 0 })
  const { stream } = openStream(live, job)
  for (let count = 0; count < 250; count++) {
    live.heard(job, [utterance(`${count}`)], count, 'en')
    setProgress(service.db, id, { sentence: 'on', percent: count % 100 })
    live.changed(id)
    await Bun.sleep(0)
  }
  service.engine.finish(task)
  await ana.until(id, 'completed')
  live.changed(id)
  const events = await all(new Response(stream))
  expect(events.filter(isSegment).map(({ data }) => data.index)).toEqual([...Array(250).keys()])
  const jobs = events.filter(({ event }) => event === 'job')
  expect(jobs.length).toBeLessThan(5)
  expect(jobs.at(-1)?.data.status).toBe('completed')
})

steered('a client that disconnects is forgotten once', async () => {
  const { service, job } = await startJob()
  const live = new LiveJobs(service.db)
  const follow = () => {
    const following = live.follow(job, () => {})
    following.leave()
    return following.live
  }
  for (const isAborted of [false, true]) {
    const gone = new AbortController()
    const { stream, ends } = openStream(live, job, { signal: gone.signal })
    const reader = stream.getReader()
    await reader.read()
    const followed = follow()
    if (isAborted) gone.abort()
    else await reader.cancel()
    expect(ends).toHaveBeenCalledTimes(1)
    expect(follow()).not.toBe(followed)
    gone.abort()
    await reader.cancel()
    expect(ends).toHaveBeenCalledTimes(1)
  }
})

steered(
  'a stream that cannot read the database fails with a line in the log, and counts as ended',
  async () => {
    const { service, job } = await startJob()
    using logged = spyOn(log, 'error').mockImplementation(() => {})
    const isAdmitted = () => {
      throw new Error('disk I/O error')
    }
    const { stream, ends } = openStream(new LiveJobs(service.db), job, { isAdmitted })
    await expect(new Response(stream).text()).rejects.toThrow('disk I/O error')
    expect(ends).toHaveBeenCalledTimes(1)
    const fields = { job_id: job.id, error: 'disk I/O error' }
    expect(logged).toHaveBeenCalledWith('event stream failed', expect.objectContaining(fields))
  },
)

function openStream(live: LiveJobs, job: Job, options: Partial<Parameters<typeof openEventStream>[2]> = {}) {
  const ends = mock()
  const stream = openEventStream(live, job, {
    signal: new AbortController().signal,
    utterancesSent: 0,
    isAdmitted: () => true,
    onEnd: ends,
    ...options,
  })
  return { stream, ends }
}
