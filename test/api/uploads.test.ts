import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { limits } from '../../src/limits.ts'
import { contentTypes } from '../../src/media/formats.ts'
import { uploadPath } from '../../src/uploads/disk.ts'
import { defaults } from '../support/defaults.ts'
import { speech } from '../support/media.ts'
import { marginMs, shareServices, startTestService, steered, type TestService } from '../support/service.ts'

shareServices()

const unlimited = { settings: { STENO_RATE_LIMITS: 'off' } }
const small = { settings: { STENO_RATE_LIMITS: 'off', STENO_MAX_FILE_SIZE: '1KB' } }

test('an upload has an address, a method and headers', async () => {
  const service = await startTestService(unlimited)
  const { status, body } = await service.account('ana').post('/v1/upload', { filename: 'My talk.MP3' })
  expect(status).toBe(200)
  expect(body).toEqual({
    upload_id: expect.any(String),
    upload_url: expect.stringContaining(`${service.url}/v1/upload/${body.upload_id}?`),
    expires_in: defaults.uploadTtlMs / 1000,
    method: 'PUT',
    headers: { 'Content-Type': contentTypes.mp3 },
  })
})

const filenames: [unknown, string][] = [
  [undefined, 'INVALID_FILENAME'],
  [null, 'INVALID_FILENAME'],
  [7, 'INVALID_FILENAME'],
  ['', 'INVALID_FILENAME'],
  ['talk', 'INVALID_FILENAME'],
  ['.mp3', 'INVALID_FILENAME'],
  ['talk.', 'INVALID_FILENAME'],
  ['a/b.mp3', 'INVALID_FILENAME'],
  ['a\\b.mp3', 'INVALID_FILENAME'],
  ['<b>.mp3', 'INVALID_FILENAME'],
  ['"b".mp3', 'INVALID_FILENAME'],
  ["it's.mp3", 'INVALID_FILENAME'],
  ['`b`.mp3', 'INVALID_FILENAME'],
  ['müll.mp3', 'INVALID_FILENAME'],
  ['a\n.mp3', 'INVALID_FILENAME'],
  [`${'x'.repeat(limits.filenameLengthMax)}.mp3`, 'INVALID_FILENAME'],
  ['talk.exe', 'INVALID_MEDIA_FORMAT'],
  ['talk.mp3.txt', 'INVALID_MEDIA_FORMAT'],
  [`${'x'.repeat(limits.filenameLengthMax - 4)}.mp3`, ''],
  ['a b (1).final.wav', ''],
  ['Wait for it....mp3', ''],
  ['...a..mp3', ''],
  ['...mp3', 'INVALID_FILENAME'],
]
test.each(filenames)('the filename %p results in %p', async (filename, code) => {
  const service = await startTestService(unlimited)
  const { status, body } = await service.account('ana').post('/v1/upload', { filename })
  expect([status, body.error?.code ?? '']).toEqual([code === '' ? 200 : 400, code])
})

test.each([
  [
    'Besprechung März.mp3',
    'filename has the character U+00E4; it may have printable ASCII only, without / \\ < > " \' and `.',
  ],
  ['talk.m4b', '.m4b is not one of the supported extensions; GET /v1 lists them.'],
  [
    `${'x'.repeat(300)}.mp3`,
    'filename is not valid: an ASCII file name of up to 255 characters with one of the supported extensions.',
  ],
])('the refusal of the filename %p says how to mend it', async (filename, message) => {
  const ana = (await startTestService(unlimited)).account('ana')
  expect((await ana.post('/v1/upload', { filename })).body.error.message).toBe(message)
})

test('all 25 extensions are accepted', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  expect(Object.keys(contentTypes)).toHaveLength(25)
  for (const extension of Object.keys(contentTypes)) {
    expect((await ana.post('/v1/upload', { filename: `a.${extension}` })).status).toBe(200)
  }
})

test('a PUT stores the bytes, and a second one replaces them', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const { body } = await ana.post('/v1/upload', { filename: 'a.wav' })
  const path = uploadPath(service.dataDir, body.upload_id)
  const first = await put(body, 'first')
  expect(first.status).toBe(200)
  expect(first.headers.get('etag')).toMatch(/^"[0-9a-f]{64}"$/)
  await put(body, 'second one')
  expect(readFileSync(path, 'utf8')).toBe('second one')
  const { id } = (await ana.post('/v1/transcribe', { upload_id: body.upload_id })).body
  expect((await ana.job(id)).file_size_bytes).toBe(10)
})

test('a PUT after the upload was used changes nothing', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const { body } = await ana.post('/v1/upload', { filename: 'a.wav' })
  await put(body, 'first')
  await ana.post('/v1/transcribe', { upload_id: body.upload_id })
  expect((await put(body, 'second')).status).toBe(409)
  expect(readFileSync(uploadPath(service.dataDir, body.upload_id), 'utf8')).toBe('first')
})

steered('a signature is valid only for its address, type and time', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const { body } = await ana.post('/v1/upload', { filename: 'a.wav' })
  const other = (await ana.post('/v1/upload', { filename: 'a.wav' })).body
  const url = new URL(body.upload_url)
  const changed = (change: (url: URL) => void) => {
    const copy = new URL(url)
    change(copy)
    return { ...body, upload_url: copy.href }
  }
  const forged = [
    changed(each => each.searchParams.delete('signature')),
    changed(each => each.searchParams.set('signature', 'ab')),
    changed(each => each.searchParams.set('expires', '99999999999999')),
    changed(each => each.searchParams.delete('expires')),
    changed(each => {
      each.pathname = new URL(other.upload_url).pathname
    }),
  ]
  for (const each of forged) {
    const answer = await put(each, new TextEncoder().encode('bytes'))
    expect(answer.status).toBe(403)
    const message = 'The signature of this address is not valid: use the upload_url unchanged.'
    expect(await answer.json()).toMatchObject({ error: { code: 'FORBIDDEN', message } })
  }
  const refusal = async (answer: Promise<Response>) => {
    const { status } = await answer
    const { error } = (await (await answer).json()) as { error: { message: string } }
    return [status, error.message]
  }
  for (const headers of [{ 'Content-Type': 'audio/mpeg' }, { 'Content-Type': 'text/plain' }, {}])
    expect(await refusal(put({ ...body, headers }, new TextEncoder().encode('bytes')))).toEqual([
      403,
      `Send the header Content-Type: ${body.headers['Content-Type']}, as the answer with this address says.`,
    ])
  service.later(defaults.uploadTtlMs)
  expect(await refusal(put(body, 'late'))).toEqual([403, 'This address has expired: create a new upload.'])
  expect(readdirSync(join(service.dataDir, 'uploads'))).toEqual([])
})

test('an oversized PUT keeps the bytes before it, and a smaller one makes the upload usable again', async () => {
  const service = await startTestService({ ...small, alone: true })
  const ana = service.account('ana')
  const { body } = await ana.post('/v1/upload', { filename: 'a.wav' })
  const submit = async () =>
    (await ana.post('/v1/transcribe', { upload_id: body.upload_id })).body.error?.code
  expect((await put(body, streamOf('x'.repeat(600), 'x'.repeat(600)))).status).toBe(413)
  expect(await submit()).toBe('FILE_TOO_LARGE')
  expect((await put(body, 'x'.repeat(1024))).status).toBe(200)
  expect((await put(body, 'x'.repeat(1025))).status).toBe(413)
  expect(readdirSync(join(service.dataDir, 'uploads'))).toEqual([body.upload_id])
  expect(await submit()).toBeUndefined()
})

test('a file over the size limit gets 413, although the quota of the account has no room for it either', async () => {
  const service = await startTestService({ settings: { ...small.settings, STENO_ACCOUNT_DISK: '1KB' } })
  const ana = service.account('ana')
  const { body } = await ana.post('/v1/upload', { filename: 'a.wav' })
  expect((await put(body, 'x'.repeat(1025))).status).toBe(413)
  const { error } = (await ana.post('/v1/transcribe', { upload_id: body.upload_id })).body
  expect(error.code).toBe('FILE_TOO_LARGE')
})

test('an interrupted PUT leaves no file', async () => {
  const service = await startTestService(unlimited)
  const { body } = await service.account('ana').post('/v1/upload', { filename: 'a.wav' })
  const url = new URL(body.upload_url)
  const socket = connect(Number(url.port), url.hostname)
  const head = `PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\nContent-Type: ${body.headers['Content-Type']}\r\n`
  socket.write(`${head}Content-Length: 1000000\r\n\r\n${'x'.repeat(100_000)}`)
  await until(() => filesOf(service, body.upload_id).length === 1)
  expect(filesOf(service, body.upload_id)[0]).toEndWith('.part')
  socket.destroy()
  await until(() => filesOf(service, body.upload_id).length === 0)
})

test('an address accepts one PUT at a time', async () => {
  const service = await startTestService(unlimited)
  const { body } = await service.account('ana').post('/v1/upload', { filename: 'a.wav' })
  const first = openPut(body, 10)
  first.send('12345')
  await until(() => filesOf(service, body.upload_id).length === 1)
  const second = await put(body, 'second')
  expect([second.status, await second.json()]).toEqual([409, errorWith('CONFLICT')])
  first.send('67890')
  expect(await first.answer).toStartWith('HTTP/1.1 200')
  expect(readFileSync(uploadPath(service.dataDir, body.upload_id), 'utf8')).toBe('1234567890')
  expect((await put(body, 'third')).status).toBe(200)
})

test('part of a file and a compressed file are refused', async () => {
  const service = await startTestService(unlimited)
  const { body } = await service.account('ana').post('/v1/upload', { filename: 'a.wav' })
  const send = async (headers: Record<string, string>) => {
    const answer = await put({ ...body, headers: { ...body.headers, ...headers } }, 'bytes')
    const { error } = (await answer.json()) as { error?: { code: string } }
    return [answer.status, error?.code, answer.headers.get('accept-encoding')]
  }
  expect(await send({ 'Content-Range': 'bytes 0-4/1000' })).toEqual([400, 'INVALID_REQUEST', null])
  expect(await send({ 'Content-Encoding': 'gzip' })).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE', 'identity'])
  expect(filesOf(service, body.upload_id)).toEqual([])
  expect(await send({ 'Content-Encoding': 'Identity' })).toEqual([200, undefined, null])
})

test('below the reserve of the disk no media is taken', async () => {
  const roomy = await startTestService({ ...unlimited, alone: true })
  const ana = roomy.account('ana')
  const { body: address } = await ana.post('/v1/upload', { filename: 'a.wav' })
  const uploadId = await ana.upload()
  await roomy.stop()

  const settings = { ...unlimited.settings, STENO_DISK_RESERVE: '1000000TB', STENO_BASE_URL: roomy.url }
  const full = await startTestService({ settings, dataDir: roomy.dataDir })
  const send = (path: string, body: object) =>
    full.fetch(path, {
      method: 'POST',
      headers: { 'X-Api-Key': ana.key, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const { pathname, search } = new URL(address.upload_url)
  const refused = [
    await send('/v1/upload', { filename: 'a.wav' }),
    await send('/v1/transcribe', { url: 'https://a.example/x.mp3' }),
    await full.fetch(pathname + search, { method: 'PUT', headers: address.headers, body: 'bytes' }),
  ]
  expect(refused.map(({ status, body }) => [status, body])).toEqual(
    Array(3).fill([507, errorWith('INSUFFICIENT_STORAGE')]),
  )
  expect(readdirSync(join(full.dataDir, 'uploads'))).toEqual([uploadId])
  expect((await send('/v1/transcribe', { upload_id: uploadId })).status).toBe(200)
})

test('a download ends when the disk reaches its reserve', async () => {
  let isAnswering = false
  const source = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => (isAnswering ? new Response('x'.repeat(100)) : new Promise<never>(() => {})),
  })
  afterAll(() => source.stop(true))
  const settings = { ...unlimited.settings, STENO_ALLOW_NETS: '127.0.0.0/8' }
  const roomy = await startTestService({ settings, alone: true })
  const ana = roomy.account('ana')
  const { id } = (await ana.post('/v1/transcribe', { url: source.url.href })).body
  await ana.until(id, 'downloading')
  await roomy.stop()

  isAnswering = true
  const full = await startTestService({
    settings: { ...settings, STENO_DISK_RESERVE: '1000000TB' },
    dataDir: roomy.dataDir,
  })
  const job = async () =>
    (await full.fetch(`/v1/transcribe/${id}`, { headers: { 'X-Api-Key': ana.key } })).body
  while ((await job()).status !== 'failed') await Bun.sleep(2)
  expect((await job()).error).toEqual({
    code: 'INTERNAL_ERROR',
    message: expect.stringContaining('no room'),
  })
  expect(readdirSync(join(full.dataDir, 'media'))).toEqual([])
})

steered('an account keeps no more media than it may', async () => {
  const settings = {
    ...unlimited.settings,
    STENO_ACCOUNT_DISK: '1KB',
    STENO_ALLOW_NETS: '127.0.0.0/8',
  }
  const service = await startTestService({ settings })
  const [ana, ben] = [service.account('ana'), service.account('ben')]
  const addresses = [1, 2, 3].map(async () => (await ana.post('/v1/upload', { filename: 'a.wav' })).body)
  const [first, second, third] = await Promise.all(addresses)
  const send = async (address: Signed, bytes: string | ReadableStream) => (await put(address, bytes)).status
  expect(await send(first, speech(60).padEnd(1000, '0'))).toBe(200)
  expect(await send(second, 'x'.repeat(25))).toBe(507)
  expect(await send(second, streamOf('x'.repeat(25)))).toBe(507)
  expect(await send(second, 'x'.repeat(24))).toBe(200)
  expect(await send(third, 'x')).toBe(507)
  expect((await put((await ben.post('/v1/upload', { filename: 'a.wav' })).body, 'x')).status).toBe(200)
  using source = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('x'.repeat(1024)) })
  const large = (await ben.post('/v1/transcribe', { url: source.url.href })).body
  const { error } = await ben.until(large.id, 'failed')
  expect(error).toEqual({ code: 'DOWNLOAD_FAILED', message: expect.stringContaining('more than 1 KB') })
  expect(readdirSync(join(service.dataDir, 'media'))).toEqual([])

  const { id } = (await ana.post('/v1/transcribe', { upload_id: first.upload_id })).body
  expect(await send(third, 'x')).toBe(507)
  service.engine.finish(await service.engine.given(1))
  await ana.until(id, 'completed')
  await ana.delete(`/v1/transcribe/${id}`)
  expect(await send(third, 'x')).toBe(200)
})

test('a slow PUT is not ended while bytes arrive, and a PUT without new bytes gets 408', async () => {
  const settings = { ...unlimited.settings, STENO_REQUEST_IDLE: '1s' }
  const service = await startTestService({ settings })
  const ana = service.account('ana')
  // Bun looks for idle connections every four seconds. The slow PUT takes six seconds, so Bun checks its connection at
  // least once.
  const pieces = 24
  const slow = openPut((await ana.post('/v1/upload', { filename: 'a.wav' })).body, pieces)
  const silent = openPut((await ana.post('/v1/upload', { filename: 'a.wav' })).body, 10)
  silent.send('12345')
  for (let count = 0; count < pieces; count++) {
    await Bun.sleep(250)
    slow.send('x')
  }
  expect(await slow.answer).toStartWith('HTTP/1.1 200')
  const answer = await silent.answer
  expect(answer).toStartWith('HTTP/1.1 408')
  expect(answer).toContain('REQUEST_TIMEOUT')
  await silent.closed
}, 20_000)

// This test needs an orderly shutdown. `stop` kills a built program with SIGKILL, so this test runs only with the
// source.
steered('an incomplete PUT does not delay the shutdown', async () => {
  const service = await startTestService(unlimited)
  const { body } = await service.account('ana').post('/v1/upload', { filename: 'a.wav' })
  const half = openPut(body, 10)
  half.send('12345')
  await until(() => readdirSync(join(service.dataDir, 'uploads')).length === 1)
  const startedAt = performance.now()
  await service.stop()
  expect(performance.now() - startedAt).toBeLessThan(limits.stopGraceMs / 2)
  expect(readdirSync(join(service.dataDir, 'uploads'))).toEqual([])
})

steered('bytes without a job are removed by the first sweep after expiry', async () => {
  const service = await startTestService(unlimited)
  const uploadId = await service.account('ana').upload()
  service.later(defaults.uploadTtlMs - marginMs)
  expect(readdirSync(join(service.dataDir, 'uploads'))).toEqual([uploadId])
  service.later(marginMs)
  expect(readdirSync(join(service.dataDir, 'uploads'))).toEqual([])
})

steered('source media is kept for a day after its job ended', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const id = await ana.transcribe()
  service.engine.finish(await service.engine.given(1))
  await ana.until(id, 'completed')
  service.later(defaults.mediaRetentionMs - marginMs)
  expect(readdirSync(join(service.dataDir, 'uploads'))).toHaveLength(1)
  service.later(marginMs)
  expect(readdirSync(join(service.dataDir, 'uploads'))).toEqual([])
  expect(await ana.job(id)).toMatchObject({ status: 'completed', result: { language: 'en' } })
})

type Signed = { upload_url: string; headers: Record<string, string> }

function put({ upload_url, headers }: Signed, body: string | Uint8Array | ReadableStream): Promise<Response> {
  return fetch(upload_url, { method: 'PUT', headers, body: body as string })
}

/** Starts a PUT request without its body. The returned function `send` sends a part of the body. */
function openPut({ upload_url, headers }: Signed, length: number) {
  const url = new URL(upload_url)
  const socket = connect(Number(url.port), url.hostname)
  socket.write(
    `PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\nContent-Type: ${headers['Content-Type']}\r\n`,
  )
  socket.write(`Content-Length: ${length}\r\n\r\n`)
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  const answer = new Promise<string>(resolve => {
    socket.once('data', (bytes: Buffer) => resolve(bytes.toString()))
    socket.once('error', error => resolve(error.message))
    closed.then(() => resolve('closed'))
  })
  return { send: (bytes: string) => void socket.write(bytes), answer, closed }
}

/** Returns the names of the files of an upload: complete files and drafts. */
function filesOf({ dataDir }: TestService, uploadId: string): string[] {
  return readdirSync(join(dataDir, 'uploads')).filter(name => name.includes(uploadId))
}

function errorWith(code: string): object {
  return { error: expect.objectContaining({ code }) }
}

function streamOf(...chunks: string[]): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
      controller.close()
    },
  })
}

/** Waits until `holds` returns true. Checks once in each iteration of the event loop. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setImmediate(resolve))
}
