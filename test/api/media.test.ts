import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaults } from '../support/defaults.ts'
import { speech } from '../support/media.ts'
import { shareServices, startTestService, steered } from '../support/service.ts'

shareServices()

const unlimited = { settings: { STENO_RATE_LIMITS: 'off' } }
const source = speech(60)

/**
 * Starts a job with a fake media file. The server keeps the file, also if the job fails. The tests run with a service
 * in the test process or with the built program. The service in the test process accepts the fake file. The built
 * program cannot decode the file, so the job fails there.
 */
async function startJob() {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const id = await ana.transcribe(source)
  const audio = (headers?: Record<string, string>) => ana.get(`/v1/transcribe/${id}/audio`, headers)
  const peaks = () => ana.get(`/v1/transcribe/${id}/peaks`)
  return { service, ana, id, audio, peaks }
}

test('the source of a job can be read in whole and in parts', async () => {
  const { audio } = await startJob()
  const whole = await audio()
  expect([whole.status, whole.text]).toEqual([200, source])
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    'content-type': 'audio/mpeg',
    'content-length': `${source.length}`,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  })
  const part = await audio({ Range: 'bytes=6-9' })
  expect([part.status, part.text]).toEqual([206, source.slice(6, 10)])
  expect(part.headers.get('content-range')).toBe(`bytes 6-9/${source.length}`)
  expect(part.headers.get('content-length')).toBe('4')
  const end = await audio({ Range: 'bytes=-3' })
  expect([end.status, end.text]).toEqual([206, source.slice(-3)])
})

test('a range is only sent of the file that the client knows', async () => {
  const { audio } = await startJob()
  const { headers } = await audio()
  const same = await audio({ Range: 'bytes=1-', 'If-Range': headers.get('etag')! })
  expect([same.status, same.text]).toEqual([206, source.slice(1)])
  const other = await audio({ Range: 'bytes=1-', 'If-Range': '"other"' })
  expect([other.status, other.text]).toEqual([200, source])
})

test('a client that has the file gets 304 without the file', async () => {
  const { audio } = await startJob()
  const { headers } = await audio()
  const etag = headers.get('etag')!
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const same = await audio({ 'If-None-Match': known, Range: 'bytes=0-3' })
    expect([known, same.status, same.text, same.headers.get('etag')]).toEqual([known, 304, '', etag])
    expect(same.headers.get('cache-control')).toBe(headers.get('cache-control'))
  }
  expect((await audio({ 'If-None-Match': '"other"' })).text).toBe(source)
})

test('a range after the end gets 416 with the size of the file', async () => {
  const { audio } = await startJob()
  for (const Range of ['bytes=1000-', 'Bytes= 1000-']) {
    const { status, headers, body } = await audio({ Range })
    expect([Range, status, body?.error.code]).toEqual([Range, 416, 'RANGE_NOT_SATISFIABLE'])
    expect(headers.get('content-range')).toBe(`bytes */${source.length}`)
  }
})

test('the media of another account cannot be read', async () => {
  const { service, id } = await startJob()
  const ben = service.account('ben')
  for (const what of ['audio', 'peaks']) {
    const { status, body } = await ben.get(`/v1/transcribe/${id}/${what}`)
    expect([status, body.error.code]).toEqual([404, 'TRANSCRIPTION_NOT_FOUND'])
  }
})

steered(
  'the source is gone after its retention time, the waveform stays until the job is deleted',
  async () => {
    const { service, ana, id, audio, peaks } = await startJob()
    const task = await service.engine.given(1)
    expect((await peaks()).body.error.code).toBe('CONFLICT')
    task.options.onPeaks?.(Uint8Array.from([0, 200, 255]))
    service.engine.finish(task)
    await ana.until(id, 'completed')
    expect((await audio()).status).toBe(200)
    service.later(defaults.mediaRetentionMs + 1)
    const gone = await audio()
    expect([gone.status, gone.body.error.code]).toEqual([410, 'GONE'])
    const response = await fetch(`${service.url}/v1/transcribe/${id}/peaks`, {
      headers: { 'X-Api-Key': ana.key },
    })
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect([...(await response.bytes())]).toEqual([0, 200, 255])
    await ana.delete(`/v1/transcribe/${id}`)
    expect((await peaks()).status).toBe(404)
    expect(service.db.list('select * from peaks')).toEqual([])
  },
)

steered('a transcript without a waveform says so', async () => {
  const { service, ana, id, peaks } = await startJob()
  service.engine.finish(await service.engine.given(1))
  await ana.until(id, 'completed')
  expect((await peaks()).body.error.code).toBe('GONE')
})

steered('a file that is still being downloaded cannot be read', async () => {
  const { service, ana } = await startJob()
  await service.engine.given(1)
  const { body } = await ana.post('/v1/transcribe', { url: 'https://slow.example/x.mp3' })
  await ana.until(body.id, 'downloading')
  const codeOf = async () => (await ana.get(`/v1/transcribe/${body.id}/audio`)).body.error.code
  expect(await codeOf()).toBe('CONFLICT')
  await ana.post(`/v1/transcribe/${body.id}/cancel`)
  expect(await codeOf()).toBe('GONE')
})

test('the type of a downloaded file is that of the extension in its address', async () => {
  const { service, id, audio } = await startJob()
  writeFileSync(join(service.dataDir, 'media', id), source)
  const types: [string, string][] = [
    ['b.MP3?c=d.txt', 'audio/mpeg'],
    ['b.html', 'application/octet-stream'],
    ['b.constructor', 'application/octet-stream'],
    ['b', 'application/octet-stream'],
  ]
  for (const [name, type] of types) {
    const url = `https://a.example/${name}`
    service.db.run('update jobs set upload_id = null, source_url = $url where id = $id', { id, url })
    expect([name, (await audio()).headers.get('content-type')]).toEqual([name, type])
  }
})
