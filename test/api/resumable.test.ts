import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { uploadPath } from '../../src/uploads/disk.ts'
import { defaults } from '../support/defaults.ts'
import { speech } from '../support/media.ts'
import { marginMs, shareServices, startTestService, steered, type TestService } from '../support/service.ts'
import { metadataOf, type TusHeaders, tusCaller } from '../support/tus.ts'

shareServices()

const file = speech(60)
/**
 * The content of a file of 3.4 MB, which arrives in several chunks. The server writes each chunk to the disk before it
 * reads the next one.
 */
const long = Array.from({ length: 500_000 }, (_, index) => `${index},`).join('')

async function start(settings: Record<string, string> = {}) {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off', ...settings } })
  const ana = service.account('ana')
  return { service, ana, tus: tusCaller(service.url, ana.key) }
}

async function outcomeOf(response: Response): Promise<[number, string]> {
  const text = await response.text()
  return [response.status, text === '' ? '' : JSON.parse(text).error.code]
}

function bytesOf({ dataDir }: TestService, id: string): string {
  return readFileSync(uploadPath(dataDir, id), 'utf8')
}

test('OPTIONS needs no key and names the version, the extensions and the largest file', async () => {
  const { service } = await start()
  const { status, headers } = await fetch(`${service.url}/v1/upload/resumable`, { method: 'OPTIONS' })
  expect(status).toBe(204)
  expect(headers.get('tus-version')).toBe('1.0.0')
  expect(headers.get('tus-extension')).toBe('creation,creation-with-upload,termination,expiration')
  expect(headers.get('tus-max-size')).toBe(`${defaults.fileBytesMax}`)
})

test('a file that arrives in three parts is the source of a job', async () => {
  const { service, ana, tus } = await start()
  const created = await tus.create(file.length)
  expect(created.status).toBe(201)
  const id = created.headers.get('upload-id')!
  const address = created.headers.get('location')!
  expect(address).toBe(`/v1/upload/resumable/${id}`)
  expect(Date.parse(created.headers.get('upload-expires')!)).toBeGreaterThan(Date.now())
  const { error } = (await ana.post('/v1/transcribe', { upload_id: id })).body
  expect([error.code, error.message]).toEqual([
    'FILE_NOT_UPLOADED',
    `The ${file.length} bytes of this resumable upload have not all arrived yet.`,
  ])
  let sent = 0
  for (const part of [file.slice(0, 4), file.slice(4, 9), file.slice(9)]) {
    expect(await tus.offset(address)).toBe(sent)
    const { status, headers } = await tus.patch(address, sent, part)
    sent += part.length
    expect([status, headers.get('upload-offset')]).toEqual([204, `${sent}`])
    expect(headers.get('tus-resumable')).toBe('1.0.0')
  }
  expect(bytesOf(service, id)).toBe(file)
  const { status, body } = await ana.post('/v1/transcribe', { upload_id: id })
  expect(status).toBe(200)
  expect((await ana.job(body.id)).file_size_bytes).toBe(file.length)
})

test('with a base URL the address of an upload is absolute', async () => {
  const { tus } = await start({ STENO_BASE_URL: 'https://speech.example.org' })
  const { headers } = await tus.create(10)
  expect(headers.get('location')).toStartWith('https://speech.example.org/v1/upload/resumable/')
})

test('HEAD has the offset, the length and the expiry, and is not cached', async () => {
  const { tus } = await start()
  const { address } = await tus.open(10)
  await tus.patch(address, 0, 'hello')
  const { status, headers } = await tus.send('HEAD', address)
  const shown = ['upload-offset', 'upload-length', 'cache-control', 'tus-resumable']
  expect([status, ...shown.map(name => headers.get(name))]).toEqual([200, '5', '10', 'no-store', '1.0.0'])
  expect(headers.get('upload-expires')).toEndWith('GMT')
})

test('the creating request may have the first bytes, or all of them', async () => {
  const { service, tus } = await start()
  const bytes = { 'Content-Type': 'application/offset+octet-stream' }
  const first = await tus.create(file.length, bytes, file.slice(0, 5))
  expect([first.status, first.headers.get('upload-offset')]).toEqual([201, '5'])
  expect((await tus.patch(first.headers.get('location')!, 5, file.slice(5))).status).toBe(204)
  const all = await tus.create(file.length, bytes, file)
  expect([all.status, all.headers.get('upload-offset')]).toEqual([201, `${file.length}`])
  expect(bytesOf(service, all.headers.get('upload-id')!)).toBe(file)
})

test('a creation whose bytes are refused or break off leaves no upload', async () => {
  const { service, ana, tus } = await start()
  const bytes = { 'Content-Type': 'application/offset+octet-stream' }
  const count = () =>
    service.db.find<{ count: number }>(
      'select count(*) as count from uploads where account_id = $accountId and declared_bytes = 9',
      { accountId: ana.id },
    )?.count
  expect((await tus.create(9, bytes, 'ten bytes!')).status).toBe(413)
  expect(count()).toBe(0)

  let breakOff = () => {}
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(5))
      breakOff = () => controller.error(new Error('the connection broke'))
    },
  })
  const answer = tus.create(9, bytes, body).catch(() => null)
  while (count() === 0) await Bun.sleep(2)
  breakOff()
  expect(await answer).toBeNull()
  while (count() !== 0) await Bun.sleep(2)
})

test('an empty file is complete when it is created', async () => {
  const { tus } = await start()
  expect(await tus.offset((await tus.open(0)).address)).toBe(0)
})

const badCreations: [string, TusHeaders, number, string][] = [
  ['no length', { 'Upload-Length': null }, 400, 'INVALID_REQUEST'],
  ['a length that is not a number', { 'Upload-Length': 'ten' }, 400, 'INVALID_REQUEST'],
  ['a negative length', { 'Upload-Length': '-1' }, 400, 'INVALID_REQUEST'],
  [
    'a length that is told later',
    { 'Upload-Length': null, 'Upload-Defer-Length': '1' },
    400,
    'INVALID_REQUEST',
  ],
  ['a length over the limit', { 'Upload-Length': '1025' }, 413, 'PAYLOAD_TOO_LARGE'],
  ['no metadata', { 'Upload-Metadata': null }, 400, 'INVALID_FILENAME'],
  ['metadata without a filename', { 'Upload-Metadata': 'is_private' }, 400, 'INVALID_FILENAME'],
  ['metadata that is not base64', { 'Upload-Metadata': 'filename %%%' }, 400, 'INVALID_REQUEST'],
  ['metadata that is not UTF-8', { 'Upload-Metadata': 'filename //8=' }, 400, 'INVALID_REQUEST'],
  ['a key twice', { 'Upload-Metadata': 'a MQ==,a MQ==' }, 400, 'INVALID_REQUEST'],
  ['a name without extension', { 'Upload-Metadata': metadataOf('talk') }, 400, 'INVALID_FILENAME'],
  [
    'an extension that is not media',
    { 'Upload-Metadata': metadataOf('talk.exe') },
    400,
    'INVALID_MEDIA_FORMAT',
  ],
  ['a long name', { 'Upload-Metadata': metadataOf(`${'x'.repeat(300)}.mp3`) }, 400, 'INVALID_FILENAME'],
  ['a body of another type', { 'Content-Type': 'audio/mpeg' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['no version', { 'Tus-Resumable': null }, 412, 'TUS_VERSION_NOT_SUPPORTED'],
  ['another version', { 'Tus-Resumable': '0.2.2' }, 412, 'TUS_VERSION_NOT_SUPPORTED'],
  ['no key', { Authorization: null }, 401, 'INVALID_API_KEY'],
]
test.each(badCreations)('a creation with %s is refused', async (_, headers, status, code) => {
  const { service, ana, tus } = await start({ STENO_MAX_FILE_SIZE: '1KB' })
  const answer = await tus.create(10, headers)
  expect(answer.headers.get('tus-resumable')).toBe('1.0.0')
  expect(await outcomeOf(answer)).toEqual([status, code])
  expect(service.db.list('select id from uploads where account_id = $id', { id: ana.id })).toEqual([])
})

test('names from the disk of a person are accepted, and HEAD returns all metadata as they were sent', async () => {
  const { tus } = await start()
  const metadata = `is_private,filetype ${btoa('audio/mpeg')}, ${metadataOf('Gespräch “1/2”.MP3')}`
  const created = await tus.create(1, { 'Upload-Metadata': metadata })
  expect(created.status).toBe(201)
  const found = await tus.send('HEAD', created.headers.get('location')!)
  expect(found.headers.get('upload-metadata')).toBe(metadata)
})

test('an account without a balance cannot create an upload', async () => {
  const { service } = await start()
  const poor = service.account('poor', { credit: 0 })
  expect(await outcomeOf(await tusCaller(service.url, poor.key).create(10))).toEqual([402, 'ZERO_BALANCE'])
})

test('a PATCH at a wrong offset gets 409 with the right one, and changes nothing', async () => {
  const { service, tus } = await start()
  const { address, id } = await tus.open(10)
  await tus.patch(address, 0, 'hello')
  for (const offset of [0, 4, 6, 10]) {
    const answer = await tus.patch(address, offset, 'x')
    expect(answer.headers.get('upload-offset')).toBe('5')
    expect(await outcomeOf(answer)).toEqual([409, 'CONFLICT'])
  }
  expect(bytesOf(service, id)).toBe('hello')
})

const badPatches: [string, TusHeaders, number, string][] = [
  ['version', { 'Tus-Resumable': null }, 412, 'TUS_VERSION_NOT_SUPPORTED'],
  ['offset', { 'Upload-Offset': null }, 400, 'INVALID_REQUEST'],
  ['valid offset', { 'Upload-Offset': '-1' }, 400, 'INVALID_REQUEST'],
  ['content type of bytes', { 'Content-Type': 'application/octet-stream' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['body that is not compressed', { 'Content-Encoding': 'gzip' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['body that is not encoded', { 'Content-Encoding': 'aws-chunked' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['key', { Authorization: null }, 401, 'INVALID_API_KEY'],
]
test.each(badPatches)('a PATCH without a %s is refused', async (_, headers, status, code) => {
  const { tus } = await start()
  const { address } = await tus.open(10)
  const answer = await tus.patch(address, 0, 'hello', headers)
  expect(await outcomeOf(answer)).toEqual([status, code])
  if (status === 412) expect(answer.headers.get('tus-version')).toBe('1.0.0')
  expect(await tus.offset(address)).toBe(0)
})

test('HEAD and DELETE need the version too', async () => {
  const { tus } = await start()
  const { address } = await tus.open(10)
  for (const method of ['HEAD', 'DELETE'])
    expect((await tus.send(method, address, { 'Tus-Resumable': null })).status).toBe(412)
})

test('a body that is longer than the announced file is refused', async () => {
  const { tus } = await start()
  const { address } = await tus.open(10)
  await tus.patch(address, 0, 'hello')
  expect(await outcomeOf(await tus.patch(address, 5, 'world!'))).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  // Bun sends this stream without a Content-Length. The server must then refuse the body when the file exceeds the size
  // that the client declared for the upload.
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue('world!')
      controller.close()
    },
  })
  expect(await outcomeOf(await tus.patch(address, 5, stream))).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  expect(await tus.offset(address)).toBe(5)
  expect((await tus.patch(address, 5, 'world')).status).toBe(204)
})

test('uploads of another account, unknown ones and those with a signed address get 404', async () => {
  const { service, ana, tus } = await start()
  const ben = tusCaller(service.url, service.account('ben').key)
  const { address } = await tus.open(10)
  const { body } = await ana.post('/v1/upload', { filename: 'talk.mp3' })
  const addresses = [
    [ben, address],
    [tus, '/v1/upload/resumable/no-such-upload'],
    [tus, `/v1/upload/resumable/${body.upload_id}`],
  ] as const
  for (const [who, at] of addresses) {
    expect((await who.send('HEAD', at)).status).toBe(404)
    expect(await outcomeOf(await who.patch(at, 0, 'x'))).toEqual([404, 'UPLOAD_NOT_FOUND'])
    expect(await outcomeOf(await who.send('DELETE', at))).toEqual([404, 'UPLOAD_NOT_FOUND'])
  }
  expect(await tus.offset(address)).toBe(0)
})

test('a deleted upload is unknown, and its bytes are gone', async () => {
  const { service, tus } = await start()
  const { address, id } = await tus.open(10)
  await tus.patch(address, 0, 'hello')
  const stored = () => readdirSync(join(service.dataDir, 'uploads')).filter(name => name.includes(id))
  expect(stored()).toHaveLength(1)
  expect((await tus.send('DELETE', address)).status).toBe(204)
  expect((await tus.send('HEAD', address)).status).toBe(404)
  expect(stored()).toEqual([])
})

test('an upload that a job uses can neither grow nor be deleted, and has no metadata', async () => {
  const { ana, tus } = await start()
  const { address, id } = await tus.open(file.length)
  await tus.patch(address, 0, file)
  await ana.post('/v1/transcribe', { upload_id: id })
  expect(await outcomeOf(await tus.patch(address, file.length, null))).toEqual([409, 'CONFLICT'])
  expect(await outcomeOf(await tus.send('DELETE', address))).toEqual([409, 'CONFLICT'])
  const { headers } = await tus.send('HEAD', address)
  expect([headers.get('upload-offset'), headers.get('upload-metadata')]).toEqual([`${file.length}`, null])
})

test('a POST may name its method in X-HTTP-Method-Override', async () => {
  const { tus } = await start()
  const { address } = await tus.open(10)
  const headers = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' }
  const patched = await tus.send('POST', address, { ...headers, 'X-HTTP-Method-Override': 'PATCH' }, 'hello')
  expect([patched.status, patched.headers.get('upload-offset')]).toEqual([204, '5'])
  const without = await tus.send('POST', address)
  expect(await outcomeOf(without)).toEqual([405, 'METHOD_NOT_ALLOWED'])
  expect(without.headers.get('allow')).toBe('HEAD, PATCH, DELETE, POST')
  expect((await tus.send('POST', address, { 'X-HTTP-Method-Override': 'DELETE' })).status).toBe(204)
})

test('the bytes before a broken connection are kept', async () => {
  const { service, tus } = await start()
  const { address, id } = await tus.open(long.length)
  const { socket } = tus.begin(address, 0, long.length, long.slice(0, -10))
  await someBytes(service, id)
  socket.destroy()
  const offset = await tus.offset(address)
  expect(offset).toBeGreaterThan(0)
  expect((await tus.patch(address, offset, long.slice(offset))).status).toBe(204)
  expect(bytesOf(service, id)).toBe(long)
})

test('of two PATCHes at once the later one wins, and no byte arrives twice', async () => {
  const { service, tus } = await start()
  const { address, id } = await tus.open(long.length)
  const older = tus.begin(address, 0, long.length, long.slice(0, -10))
  await someBytes(service, id)
  const newer = await tus.patch(address, long.length, null)
  const offset = Number(newer.headers.get('upload-offset'))
  expect(newer.status).toBe(409)
  expect(await older.answer).toMatch(/^HTTP\/1.1 409 /)
  older.socket.destroy()
  expect((await tus.patch(address, offset, long.slice(offset))).status).toBe(204)
  expect(bytesOf(service, id)).toBe(long)
})

test('many clients at once leave a whole file', async () => {
  const { service, tus } = await start()
  const whole = Array.from({ length: 2000 }, (_, index) => `${index},`).join('')
  const { address, id } = await tus.open(whole.length)
  const clients = Array.from({ length: 4 }, async () => {
    for (let offset = await tus.offset(address); offset < whole.length; ) {
      const { status } = await tus.patch(address, offset, whole.slice(offset, offset + 1500))
      expect([204, 409]).toContain(status)
      offset = await tus.offset(address)
    }
  })
  await Promise.all(clients)
  expect(bytesOf(service, id)).toBe(whole)
})

test('a PATCH counts for no limit, a creation does', async () => {
  const { tus } = await start({ STENO_RATE_LIMITS: 'ip=9,uploads.create=1' })
  const { address } = await tus.open(20)
  for (let offset = 0; offset < 20; offset++) expect((await tus.patch(address, offset, 'x')).status).toBe(204)
  expect((await tus.create(20)).status).toBe(429)
})

steered('requests with a wrong key do count', async () => {
  const { tus } = await start({ STENO_RATE_LIMITS: 'ip=9' })
  const { address } = await tus.open(20)
  const statuses: number[] = []
  for (let count = 0; count < 9; count++)
    statuses.push((await tus.send('HEAD', address, { Authorization: 'sk_live_x' })).status)
  expect(statuses).toEqual([...Array(8).fill(401), 429])
})

test('announced bytes count for the quota of the account until the upload is deleted', async () => {
  const { tus } = await start({ STENO_ACCOUNT_DISK: '1KB' })
  const { address } = await tus.open(600)
  expect(await outcomeOf(await tus.create(600))).toEqual([507, 'INSUFFICIENT_STORAGE'])
  expect((await tus.patch(address, 0, 'x'.repeat(600))).status).toBe(204)
  await tus.send('DELETE', address)
  expect((await tus.create(600)).status).toBe(201)
})

test('below the reserve of the disk no upload is created', async () => {
  const { tus } = await start({ STENO_DISK_RESERVE: '1000000GB' })
  expect(await outcomeOf(await tus.create(10))).toEqual([507, 'INSUFFICIENT_STORAGE'])
})

test('a PATCH whose bytes stop coming gets 408, and its bytes are kept', async () => {
  const { tus } = await start({ STENO_REQUEST_IDLE: '3s' })
  const { address } = await tus.open(100)
  expect(await tus.begin(address, 0, 100, 'hello').answer).toMatch(/^HTTP\/1.1 408 /)
  expect(await tus.offset(address)).toBe(5)
})

steered('the answer to a slow creation has the expiry that its last bytes have set', async () => {
  const { service, tus } = await start()
  const { readable, writable } = new TransformStream<Uint8Array>()
  const writer = writable.getWriter()
  const answer = tus.create(10, { 'Content-Type': 'application/offset+octet-stream' }, readable)
  await writer.write(new Uint8Array(5))
  while (service.db.find('select 1 from uploads where declared_bytes = 10') === null) await Bun.sleep(2)
  service.later(defaults.uploadTtlMs / 2)
  await writer.write(new Uint8Array(5))
  await writer.close()
  const { headers } = await answer
  const found = await tus.send('HEAD', headers.get('location')!)
  expect(headers.get('upload-expires')).toBe(found.headers.get('upload-expires')!)
})

steered('an expired upload gets 410, and its bytes are removed', async () => {
  const { service, ana, tus } = await start()
  const { address, id } = await tus.open(10)
  await tus.patch(address, 0, 'hello')
  service.later(defaults.uploadTtlMs + 1)
  expect((await tus.send('HEAD', address)).status).toBe(410)
  expect(await outcomeOf(await tus.patch(address, 5, 'world'))).toEqual([410, 'GONE'])
  expect((await ana.post('/v1/transcribe', { upload_id: id })).body.error.code).toBe('UPLOAD_EXPIRED')
  expect(readdirSync(join(service.dataDir, 'uploads'))).toEqual([])
})

steered('an upload that receives bytes expires later', async () => {
  const { service, tus } = await start()
  const { address } = await tus.open(10)
  for (let offset = 0; offset < 10; offset++) {
    service.later(defaults.uploadTtlMs / 2)
    expect((await tus.patch(address, offset, 'x')).status).toBe(204)
  }
})

steered('a request that begins shortly before the expiry is not cut off by the expiry', async () => {
  const { service, tus } = await start()
  const { address, id } = await tus.open(long.length)
  service.later(defaults.uploadTtlMs - marginMs)
  const { socket, answer } = tus.begin(address, 0, long.length, long.slice(0, -10))
  await someBytes(service, id)
  service.later(2 * marginMs)
  socket.write(long.slice(-10))
  expect(await answer).toMatch(/^HTTP\/1.1 204 /)
  expect(bytesOf(service, id)).toBe(long)
})

steered('an upload goes on after a restart of the service', async () => {
  const { service, ana, tus } = await start()
  const { address, id } = await tus.open(file.length)
  await tus.patch(address, 0, file.slice(0, 7))
  await service.stop()
  const again = await startTestService({ dataDir: service.dataDir })
  const { create: _, ...later } = tusCaller(again.url, ana.key)
  const path = new URL(address).pathname
  expect((await later.send('HEAD', path)).headers.get('upload-offset')).toBe('7')
  expect((await later.patch(path, 7, file.slice(7))).status).toBe(204)
  expect(bytesOf(again, id)).toBe(file)
})

steered('an upload whose last byte arrived before a crash is completed by the next HEAD', async () => {
  const { service, ana, tus } = await start()
  const { address, id } = await tus.open(file.length)
  writeFileSync(uploadPath(service.dataDir, id), file)
  expect(await tus.offset(address)).toBe(file.length)
  expect((await ana.post('/v1/transcribe', { upload_id: id })).status).toBe(200)
})

/** Waits until the file of an upload has at least one byte. */
async function someBytes({ dataDir }: TestService, id: string): Promise<void> {
  const path = uploadPath(dataDir, id)
  while (!(await Bun.file(path).exists()) || Bun.file(path).size === 0) await Bun.sleep(2)
}
