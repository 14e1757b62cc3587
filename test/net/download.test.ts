import { beforeEach, expect, spyOn, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { basename, join } from 'node:path'
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { draftPath } from '../../src/base/draft-names.ts'
import { JobFailure } from '../../src/errors.ts'
import { limits } from '../../src/limits.ts'
import { causes } from '../../src/net/causes.ts'
import { download } from '../../src/net/download.ts'
import type { DownloadOptions } from '../../src/net/download-state.ts'
import { parseNets } from '../../src/net/nets.ts'
import { defaults } from '../support/defaults.ts'
import { temporaryFolder } from '../support/folder.ts'
import {
  answer,
  ca,
  drip,
  head,
  hostileServers,
  pour,
  type Request,
  redirect,
  type Scene,
  untilClosed,
} from '../support/hostile-server.ts'
import { seeded } from '../support/random.ts'

const media = randomBytes(300_000, 7)
const other = randomBytes(300_000, 8)
const large = randomBytes(3_000_000, 9)
const page = '<!DOCTYPE html><html><head><title>Hello</title></head><body>A preview</body></html>'
const signIn = '<html><body><form><input name="u"><input name="p" type="password"></form></body></html>'

let folder: string
const serve = hostileServers()
beforeEach(() => {
  folder = temporaryFolder()
})
test('a file is complete under its name, and readable only by its owner', async () => {
  const server = await serve({
    '/a.mp3': socket => answer(socket, 200, { 'Content-Type': 'audio/mpeg' }, media),
  })
  const seen: [number, number | null][] = []

  const { bytes } = await take(server.url('/a.mp3'), {
    bytesMax: media.length,
    onProgress: (...at) => seen.push(at),
  })

  expect(bytes).toBe(media.length)
  expect(readdirSync(folder)).toEqual(['media'])
  expect(readFileSync(path()).equals(media)).toBe(true)
  expect(statSync(path()).mode & 0o777).toBe(0o600)
  expect(seen.at(-1)).toEqual([media.length, media.length])
  expect(seen.map(([at]) => at)).toEqual(seen.map(([at]) => at).toSorted((a, b) => a - b))
})

test('a disk that takes only a part of each write gets the whole file', async () => {
  await using handle = await open('/dev/null')
  const files = Object.getPrototypeOf(handle) as FileHandle
  const write = files.write as (this: FileHandle, bytes: Uint8Array, ...where: number[]) => Promise<unknown>
  const half: typeof write = function (bytes, from = 0, length = 0, at = 0) {
    return write.call(this, bytes, from, Math.ceil(length / 2), at)
  }
  using _ = spyOn(files, 'write').mockImplementation(half as FileHandle['write'])
  const server = await serve({ '/a.mp3': socket => answer(socket, 200, {}, media) })
  expect(await take(server.url('/a.mp3'))).toEqual({ bytes: media.length })
  expect(readFileSync(path()).equals(media)).toBe(true)
})

test('with chunked encoding, a wrong Content-Length has no effect', async () => {
  const headers = { 'Transfer-Encoding': 'chunked', 'Content-Length': `${defaults.fileBytesMax + 1}` }
  const body = Buffer.concat([
    Buffer.from(`${media.length.toString(16)}\r\n`),
    media,
    Buffer.from('\r\n0\r\n\r\n'),
  ])
  const server = await serve({
    '/both': socket => socket.end(Buffer.concat([Buffer.from(head(200, headers)), body])),
  })
  expect(await take(server.url('/both'))).toEqual({ bytes: media.length })
})

test('a file is downloaded over TLS, in chunks and without a stated length', async () => {
  const server = await serve(
    {
      '/chunked': socket => {
        socket.write(head(200, { 'Transfer-Encoding': 'chunked' }))
        for (let at = 0; at < media.length; at += 30_000) {
          const part = media.subarray(at, at + 30_000)
          socket.write(`${part.length.toString(16)}\r\n`)
          socket.write(part)
          socket.write('\r\n')
        }
        socket.end('0\r\n\r\n')
      },
      '/endless': socket => {
        socket.write(head(200))
        socket.end(media)
      },
    },
    { tls: true },
  )
  for (const name of ['/chunked', '/endless']) {
    expect(await take(server.url(name))).toEqual({ bytes: media.length })
    expect(readFileSync(path()).equals(media)).toBe(true)
  }
})

type Refusal = [Scene, code: JobFailure['code'], cause: RegExp]
const refusals: Record<string, Refusal> = {
  'HTTP 401': [status(401), 'URL_NOT_ACCESSIBLE', /sign-in \(HTTP 401\)/],
  'HTTP 403': [status(403), 'URL_NOT_ACCESSIBLE', /HTTP 403/],
  'HTTP 404': [status(404), 'URL_NOT_ACCESSIBLE', /HTTP 404 \(Not Found\)/],
  'HTTP 410': [status(410), 'URL_NOT_ACCESSIBLE', /HTTP 410/],
  'HTTP 416': [status(416), 'URL_NOT_ACCESSIBLE', /HTTP 416/],
  'HTTP 429': [status(429), 'URL_NOT_ACCESSIBLE', /HTTP 429/],
  'HTTP 500': [status(500), 'URL_NOT_ACCESSIBLE', /HTTP 500 \(Internal Server Error\)/],
  'HTTP 503': [status(503), 'URL_NOT_ACCESSIBLE', /HTTP 503/],
  'HTTP 304': [status(304), 'URL_NOT_ACCESSIBLE', /HTTP 304/],
  'HTTP 599': [status(599), 'URL_NOT_ACCESSIBLE', /HTTP 599/],
  'a redirect loop': [redirect('/a'), 'URL_NOT_ACCESSIBLE', /redirects more than 5 times/],
  'a redirect to a private address': [redirect('http://10.0.0.1/'), 'URL_NOT_ACCESSIBLE', /private/],
  'a redirect to a file': [redirect('file:///etc/passwd'), 'URL_NOT_ACCESSIBLE', /http and https/],
  'a redirect to nowhere': [redirect('http://['), 'URL_NOT_ACCESSIBLE', /not a valid URL/],
  'a redirect to a folder share': [
    redirect('https://www.dropbox.com/sh/abc/def'),
    'URL_NOT_ACCESSIBLE',
    /folder/,
  ],
  'a page': [body('text/html', page), 'URL_NOT_ACCESSIBLE', /web page/],
  'a page that claims to be audio': [body('audio/mpeg', page), 'URL_NOT_ACCESSIBLE', /web page/],
  'a page without a type': [
    body(undefined, `\ufeff\n <!-- hi -->\n${page}`),
    'URL_NOT_ACCESSIBLE',
    /web page/,
  ],
  'a page in UTF-16': [
    body(undefined, Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(page, 'utf16le')])),
    'URL_NOT_ACCESSIBLE',
    /web page/,
  ],
  'a page packed with gzip': [
    socket => answer(socket, 200, { 'Content-Encoding': 'gzip' }, gzipSync(page)),
    'URL_NOT_ACCESSIBLE',
    /web page/,
  ],
  'a long page': [body('text/html', page + ' '.repeat(500_000)), 'URL_NOT_ACCESSIBLE', /web page/],
  'a page without end': [
    socket => {
      socket.write(head(200))
      socket.write(page)
      return pour(socket, 1e9, Buffer.alloc(4096, ' '))
    },
    'URL_NOT_ACCESSIBLE',
    /web page/,
  ],
  'an interrupted page': [
    socket => socket.write(`${head(200, { 'Content-Length': 5000 })}${page}`),
    'URL_NOT_ACCESSIBLE',
    /web page/,
  ],
  'a text with the type of a page': [
    body('text/html; charset=utf-8', 'Please log in.'),
    'URL_NOT_ACCESSIBLE',
    /web page/,
  ],
  'a page that asks for a password': [body('text/html', signIn), 'URL_NOT_ACCESSIBLE', /sign-in page/],
  'an empty body': [socket => answer(socket, 200), 'URL_NOT_ACCESSIBLE', /empty body/],
  'an empty body with the type of a page': [body('text/html', ''), 'URL_NOT_ACCESSIBLE', /empty body/],
  'an empty body without length': [socket => socket.end(head(200)), 'URL_NOT_ACCESSIBLE', /empty body/],
  'no content': [socket => socket.end('HTTP/1.1 204 No Content\r\n\r\n'), 'URL_NOT_ACCESSIBLE', /empty body/],
  'a connection closed without an answer': [
    socket => socket.end(),
    'URL_NOT_ACCESSIBLE',
    /without a valid HTTP answer/,
  ],
  'another protocol': [socket => socket.end('220 smtp\r\n'), 'URL_NOT_ACCESSIBLE', /valid HTTP answer/],
  'too many header bytes': [
    socket => pour(socket, 1e9, Buffer.from(`X-Flood: ${'a'.repeat(1000)}\r\n`)),
    'URL_NOT_ACCESSIBLE',
    /valid HTTP answer/,
  ],
  'an encoding that has no decoder': [
    socket => answer(socket, 200, { 'Content-Encoding': 'compress' }, 'abc'),
    'URL_NOT_ACCESSIBLE',
    /encoding/,
  ],
  'five encodings': [
    socket => answer(socket, 200, { 'Content-Encoding': 'gzip,gzip,gzip,gzip,gzip' }, 'abc'),
    'URL_NOT_ACCESSIBLE',
    /encoding/,
  ],
  'an encoded body without bytes': [
    socket => answer(socket, 200, { 'Content-Encoding': 'gzip' }),
    'URL_NOT_ACCESSIBLE',
    /empty/,
  ],
  'an encoding that the body does not have': [
    socket => answer(socket, 200, { 'Content-Encoding': 'gzip' }, media),
    'DOWNLOAD_FAILED',
    /Content-Encoding/,
  ],
  'an interrupted encoding': [
    socket => answer(socket, 200, { 'Content-Encoding': 'gzip' }, gzipSync(media).subarray(0, 9000)),
    'DOWNLOAD_FAILED',
    /Content-Encoding/,
  ],
  'the middle of a file': [
    socket => answer(socket, 206, { 'Content-Range': 'bytes 5-9/10' }, 'abcde'),
    'URL_NOT_ACCESSIBLE',
    /valid HTTP answer/,
  ],
  'a length over the limit': [
    socket => socket.write(head(200, { 'Content-Length': 2_000_000 })),
    'FILE_TOO_LARGE',
    /976\.6 KB/,
  ],
  'more bytes than the limit': [
    socket => {
      socket.write(head(200))
      return pour(socket, 1e9)
    },
    'FILE_TOO_LARGE',
    /976\.6 KB/,
  ],
  'endless chunks': [
    socket => {
      socket.write(head(200, { 'Transfer-Encoding': 'chunked' }))
      return pour(socket, 1e9, Buffer.from(`1000\r\n${'\x00'.repeat(4096)}\r\n`))
    },
    'FILE_TOO_LARGE',
    /976\.6 KB/,
  ],
  'a compression bomb': [
    socket => answer(socket, 200, { 'Content-Encoding': 'gzip' }, gzipSync(new Uint8Array(5_000_000))),
    'FILE_TOO_LARGE',
    /976\.6 KB/,
  ],
  'a compressed body that decodes to nothing, and is over the limit': [
    socket => answer(socket, 200, { 'Content-Encoding': 'gzip' }, gzipOfNothing(1_200_000)),
    'FILE_TOO_LARGE',
    /976\.6 KB/,
  ],
  'a small body that decodes to such a body': [
    socket => answer(socket, 200, { 'Content-Encoding': 'gzip,gzip' }, gzipSync(gzipOfNothing(1_200_000))),
    'FILE_TOO_LARGE',
    /976\.6 KB/,
  ],
  'a body that is always truncated': [
    socket => socket.end(`${head(200, { 'Content-Length': 9000 })}\x00abc`),
    'DOWNLOAD_FAILED',
    /interrupted/,
  ],
  'headers without a body': [
    socket => socket.end(head(200, { 'Content-Length': 9000 })),
    'DOWNLOAD_FAILED',
    /interrupted/,
  ],
  'silence after the first bytes': [
    socket => socket.write(`${head(200)}\x00abc`),
    'DOWNLOAD_FAILED',
    /stalled/,
  ],
  'a slow body': [socket => drip(socket), 'DOWNLOAD_FAILED', /stalled/],
}

test.each(Object.entries(refusals))('%s ends the download with a cause', async (_, [scene, code, cause]) => {
  const server = await serve({ '/a': scene })
  // `stallMs` is short only if a stall is the expected outcome. In the other cases it is long, because on a busy
  // machine a late answer would count as a stall.
  const stallMs = `${cause}`.includes('stalled') ? 50 : 3000
  const failure = await failureOf(take(server.url('/a'), { bytesMax: 1_000_000, stallMs }))
  expect(failure).toMatchObject({ code, message: expect.stringMatching(cause) })
  expect(readdirSync(folder)).toEqual([])
  await untilClosed(server)
})

const untried: [string, Partial<DownloadOptions>, RegExp][] = [
  ['ftp://media.test/a', {}, /http and https/],
  ['nonsense', {}, /not a valid URL/],
  ['http://media.test/a', { resolve: async () => [] }, /host name .*DNS/],
  ['http://media.test/a', { resolve: async () => ['10.1.2.3'] }, /private/],
  ['http://169.254.169.254/latest/meta-data', {}, /private/],
  ['http://[::ffff:a9fe:a9fe]/latest/meta-data', {}, /private/],
  ['http://media.test:1/a', { resolve: async () => ['127.0.0.1'] }, /refused/],
  ['https://drive.google.com/drive/folders/1AbC', {}, /folder/],
  ['https://mega.nz/file/a#b', {}, /own pages/],
]

test.each(untried)('%s is refused with its cause', async (address, options, cause) => {
  const failure = await failureOf(take(address, options))
  expect(failure).toMatchObject({ code: 'URL_NOT_ACCESSIBLE', message: expect.stringMatching(cause) })
  expect(readdirSync(folder)).toEqual([])
})

test('a bad certificate has its own cause', async () => {
  const server = await serve({ '/a': socket => answer(socket, 200, {}, media) }, { tls: true })
  const wrong = await failureOf(take(server.url('/a', 'wrong.test')))
  const unknown = await failureOf(take(server.url('/a'), { ca: undefined }))
  expect(wrong.message).toMatch(/certificate .* different host name/)
  expect(unknown.message).toMatch(/certificate .* trusted authority/)
  expect([wrong.code, unknown.code]).toEqual(['URL_NOT_ACCESSIBLE', 'URL_NOT_ACCESSIBLE'])
})

test('a redirect to a sign-in page has its own cause', async () => {
  const server = await serve({
    '/a': redirect('/accounts/login?next=a'),
    '/accounts/login': body('text/html', page),
    '/b': redirect('/oauth2/authorize'),
    '/oauth2/authorize': status(403),
  })
  for (const name of ['/a', '/b']) {
    const failure = await failureOf(take(server.url(name)))
    expect(failure).toMatchObject({
      code: 'URL_NOT_ACCESSIBLE',
      message: expect.stringMatching(/sign-in page/),
    })
  }
})

test('no failure repeats an address, a credential or a number of the internal network', async () => {
  const server = await serve({ '/a': status(404), '/b': redirect('http://10.9.8.7/inner') })
  const addresses = [server.url('/a?token=s3cret'), server.url('/b?token=s3cret')]
  for (const address of addresses) {
    const failure = await failureOf(take(address.replace('://', '://ana:hunter2@')))
    expect(`${failure.message} ${failure.stack}`).not.toMatch(/s3cret|hunter2|ana|10\.9\.8\.7|media\.test/)
  }
})

test.each([
  ['text/html', media],
  ['text/plain', media],
  [undefined, media],
  ['', media],
  ['text/html', Buffer.from('ID3\x04\x00\x00')],
  ['audio/wav', Buffer.from('R')],
  ['audio/x-unknown', Buffer.from('<3 this is not a page')],
])('media is media whatever its type says (%p)', async (type, bytes) => {
  const server = await serve({ '/a': body(type, bytes) })
  expect(await take(server.url('/a'))).toEqual({ bytes: bytes.length })
  expect(readFileSync(path()).equals(bytes)).toBe(true)
})

test.each([
  ['gzip', gzipSync(media)],
  ['x-gzip', gzipSync(media)],
  ['br', brotli(media)],
  ['deflate', deflateSync(media)],
  ['deflate', deflateRawSync(media)],
  ['zstd', zstdCompressSync(media)],
  ['identity', media],
  ['aws-chunked', media],
  ['utf-8', media],
  ['gzip,aws-chunked', gzipSync(media)],
  ['identity, GZIP, br', brotli(gzipSync(media))],
])('a body that comes as %s unasked is unpacked', async (encoding, bytes) => {
  const server = await serve({ '/a': socket => answer(socket, 200, { 'Content-Encoding': encoding }, bytes) })
  expect(await take(server.url('/a'))).toEqual({ bytes: media.length })
  expect(readFileSync(path()).equals(media)).toBe(true)
})

// When a connection breaks, the client loses bytes that it has not read yet. The exact offset at which the download
// continues is therefore unknown, so the test checks only that the offset is not 0.
test.each([
  ['its ETag', { ETag: '"v1"' }, '"v1"'],
  [
    'the time of its last change',
    { 'Last-Modified': 'Fri, 20 Nov 2026 10:00:00 GMT' },
    'Fri, 20 Nov 2026 10:00:00 GMT',
  ],
])('a broken download goes on where it stopped when the file is known by %s', async (_, headers, version) => {
  const server = await serve({ '/a': ranged(headers, cutAt(1_400_000), large) })
  expect(await take(server.url('/a'))).toEqual({ bytes: large.length })
  expect(readFileSync(path()).equals(large)).toBe(true)
  const [first, ...rest] = server.requests.map(asked)
  expect(first).toEqual([undefined, undefined])
  expect(rest.length).toBeGreaterThanOrEqual(2)
  for (const [range, ifRange] of rest) {
    expect(range).toMatch(/^bytes=[1-9]\d+-$/)
    expect(ifRange).toBe(version)
  }
})

const known = { 'Content-Length': large.length }
const chunked = { 'Transfer-Encoding': 'chunked' }
const version = { ETag: '"v1"' }

/**
 * Returns a server that cuts off its first response, which has an ETag and the given headers. Later responses begin at
 * the requested offset, without an ETag. `total` is the size of the file in their Content-Range.
 */
function interruptedOnce(headers: Record<string, string | number>, total: string): Scene {
  return (socket, request, nth) => {
    const part = large.subarray(0, 1_400_000)
    const size = 'Transfer-Encoding' in headers ? `${part.length.toString(16)}\r\n` : ''
    if (nth === 1) return cut(socket, head(200, { ...version, ...headers }) + size, part)
    const from = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0)
    const range = { 'Content-Range': `bytes ${from}-${large.length - 1}/${total}` }
    return answer(socket, from > 0 ? 206 : 200, from > 0 ? range : {}, large.subarray(from))
  }
}

test.each([
  ['the first answer has no size', chunked, `${large.length}`, 2],
  ['the range has no size', known, '*', 2],
  ['no answer has the size', chunked, '*', 3],
  ['the sizes differ', known, '4000000', 3],
])('a broken download is complete if %s', async (_, headers, total, requests) => {
  const server = await serve({ '/a': interruptedOnce(headers, total) })
  expect(await take(server.url('/a'))).toEqual({ bytes: large.length })
  expect(readFileSync(path()).equals(large)).toBe(true)
  expect(server.requests).toHaveLength(requests)
})

test.each<[string, Record<string, string>]>([
  ['no version', {}],
  ['a weak version', { ETag: 'W/"v1"' }],
])('with %s it starts over', async (_, headers) => {
  const server = await serve({ '/a': ranged(headers, nth => (nth === 1 ? 200_000 : media.length)) })
  expect(await take(server.url('/a'))).toEqual({ bytes: media.length })
  expect(readFileSync(path()).equals(media)).toBe(true)
  expect(server.requests.map(asked)).toEqual([
    [undefined, undefined],
    [undefined, undefined],
  ])
})

test('a server without ranges sends the whole file again', async () => {
  const server = await serve({
    '/a': (socket, _, nth) =>
      nth === 1
        ? cut(socket, head(200, { 'Content-Length': media.length, ETag: '"v1"' }), media.subarray(0, 90_000))
        : answer(socket, 200, { ETag: '"v1"' }, media),
  })
  expect(await take(server.url('/a'))).toEqual({ bytes: media.length })
  expect(readFileSync(path()).equals(media)).toBe(true)
})

test('a compressed body that breaks off is downloaded again from its start', async () => {
  const packed = gzipSync(media)
  const headers = { ...version, 'Content-Encoding': 'gzip', 'Content-Length': packed.length }
  const server = await serve({
    '/a': (socket, _, nth) =>
      cut(socket, head(200, headers), nth === 1 ? packed.subarray(0, 200_000) : packed),
  })
  expect(await take(server.url('/a'))).toEqual({ bytes: media.length })
  expect(readFileSync(path()).equals(media)).toBe(true)
  expect(server.requests.map(asked)).toEqual(Array(2).fill([undefined, undefined]))
})

test('a compressed body that breaks off ever further on is downloaded a limited number of times', async () => {
  const headers = { 'Content-Encoding': 'gzip', 'Content-Length': 1_000_000 }
  const server = await serve({
    '/a': (socket, _, nth) =>
      cut(socket, head(200, headers), gzipSync(Buffer.alloc(2 * nth * limits.downloadFurtherBytes))),
  })
  expect((await failureOf(take(server.url('/a')))).code).toBe('DOWNLOAD_FAILED')
  expect(server.requests.length).toBe(limits.downloadTriesMax)
})

test('a file that changed between two attempts is downloaded again, never mixed', async () => {
  const honest: Scene = (socket, _, nth) =>
    nth === 1
      ? cut(socket, head(200, { 'Content-Length': media.length, ETag: '"v1"' }), media.subarray(0, 90_000))
      : answer(socket, 200, { ETag: '"v2"' }, other)
  // A faulty server: it ignores the header If-Range and sends the second part of another file.
  const careless: Scene = (socket, request, nth) => {
    if (nth === 1) return honest(socket, request, nth)
    return ranged({ ETag: '"v2"' }, () => other.length, other)(socket, request, nth)
  }
  const grown: Scene = (socket, request, nth) => {
    if (nth === 1) return honest(socket, request, nth)
    return ranged({ ETag: '"v1"' }, () => 600_000, Buffer.concat([other, media]))(socket, request, nth)
  }
  const shrunk: Scene = (socket, request, nth) => {
    if (nth === 1) return honest(socket, request, nth)
    return answer(socket, 200, { ETag: '"v2"' }, other.subarray(0, 1000))
  }
  const server = await serve({ '/honest': honest, '/careless': careless, '/grown': grown, '/shrunk': shrunk })

  for (const name of ['/honest', '/careless']) {
    expect(await take(server.url(name))).toEqual({ bytes: other.length })
    expect(readFileSync(path()).equals(other)).toBe(true)
  }
  await take(server.url('/grown'))
  expect(readFileSync(path()).equals(Buffer.concat([other, media]))).toBe(true)
  await take(server.url('/shrunk'))
  expect(readFileSync(path()).equals(other.subarray(0, 1000))).toBe(true)
})

test('a range that is missing or wrong starts the download over', async () => {
  const first = (socket: Socket) =>
    cut(socket, head(200, { 'Content-Length': media.length, ETag: '"v1"' }), media.subarray(0, 90_000))
  const server = await serve({
    '/416': (socket, request, nth) =>
      nth === 1
        ? first(socket)
        : request.headers.range
          ? answer(socket, 416)
          : answer(socket, 200, {}, media),
    '/wrong': (socket, request, nth) =>
      nth === 1
        ? first(socket)
        : request.headers.range
          ? answer(socket, 206, { ETag: '"v1"', 'Content-Range': `bytes 0-9/${media.length}` }, '0123456789')
          : answer(socket, 200, {}, media),
    '/packed': (socket, request, nth) => {
      if (nth === 1) return first(socket)
      const from = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0)
      if (from === 0) return answer(socket, 200, {}, media)
      const range = `bytes ${from}-${media.length - 1}/${media.length}`
      const headers = { ETag: '"v1"', 'Content-Range': range, 'Content-Encoding': 'gzip' }
      return answer(socket, 206, headers, gzipSync(other.subarray(from)))
    },
  })
  for (const name of ['/416', '/wrong', '/packed']) {
    await take(server.url(name))
    expect(readFileSync(path()).equals(media)).toBe(true)
  }
})

test('a server that sends short ranges is asked again until the file is complete', async () => {
  const server = await serve({
    '/a': (socket, request, nth) => {
      if (nth === 1)
        return cut(
          socket,
          `${head(200, { ...chunked, ETag: '"v1"' })}${(100_000).toString(16)}\r\n`,
          media.subarray(0, 90_000),
        )
      const from = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0)
      const part = media.subarray(from, from + 100_000)
      const range = `bytes ${from}-${from + part.length - 1}/${media.length}`
      return answer(socket, 206, { ETag: '"v1"', 'Content-Range': range }, part)
    },
  })
  expect(await take(server.url('/a'))).toEqual({ bytes: media.length })
  expect(readFileSync(path()).equals(media)).toBe(true)
})

test('an error after the start of the body is retried with exponential backoff, a limited number of times', async () => {
  const pauses: number[] = []
  const pause = async (ms: number) => void pauses.push(ms)
  const begin = head(200, { 'Content-Length': media.length, ETag: '"v1"' })
  const first = (socket: Socket) => cut(socket, begin, media.subarray(0, 90_000))
  let breakOff = () => {}
  const server = await serve({
    '/recovers': (socket, request, nth) => {
      if (nth === 1) {
        socket.write(begin)
        socket.write(media.subarray(0, 90_000))
        breakOff = () => socket.end()
      } else if (nth === 2) answer(socket, 408)
      else if (nth === 3) socket.resetAndDestroy()
      else if (nth === 4) answer(socket, 429)
      else ranged({ ETag: '"v1"' }, () => media.length)(socket, request, nth)
    },
    '/stays-broken': (socket, _, nth) => (nth === 1 ? first(socket) : answer(socket, 500)),
    '/gone': (socket, _, nth) => (nth === 1 ? first(socket) : answer(socket, 403)),
  })

  // The connection ends only after all 90,000 bytes are in the file. If it ended earlier, bytes that are not in the
  // file yet could be lost. Without any byte in the file, the next attempt would start at the first byte, and not
  // at byte 90,000.
  const onProgress = (bytes: number) => {
    if (bytes === 90_000) breakOff()
  }
  expect(await take(server.url('/recovers'), { pause, onProgress })).toEqual({ bytes: media.length })
  const second = limits.downloadRetryPauseMs
  expect(pauses).toEqual([2 * second, 4 * second, 8 * second, 16 * second])
  expect(server.requests.at(-1)?.headers.range).toBe('bytes=90000-')
  expect(readFileSync(path()).equals(media)).toBe(true)
  rmSync(path())

  server.requests.length = 0
  const broken = await failureOf(take(server.url('/stays-broken'), { pause }))
  expect(broken).toMatchObject({ code: 'DOWNLOAD_FAILED', message: expect.stringMatching(/interrupted/) })
  expect(server.requests).toHaveLength(limits.downloadTriesMax)

  const gone = await failureOf(take(server.url('/gone'), { pause }))
  expect(gone).toMatchObject({ code: 'DOWNLOAD_FAILED', message: expect.stringMatching(/HTTP 403/) })
})

test('attempts that make progress are not counted', async () => {
  const step = 2 * limits.downloadFurtherBytes
  const large = randomBytes(step * (limits.downloadTriesMax + 2), 9)
  const server = await serve({ '/a': ranged({ ETag: '"v1"' }, cutAt(step), large) })
  expect(await take(server.url('/a'))).toEqual({ bytes: large.length })
  expect(readFileSync(path()).equals(large)).toBe(true)
  expect(server.requests.length).toBeGreaterThan(limits.downloadTriesMax)
})

test('a download that always breaks at the same offset, or earlier, fails', async () => {
  const step = 2 * limits.downloadFurtherBytes
  const large = randomBytes(2 * step, 9)
  const server = await serve({ '/a': ranged({}, nth => (nth % 2 === 0 ? step : 1000), large) })
  const failure = await failureOf(take(server.url('/a')))
  expect(failure.code).toBe('DOWNLOAD_FAILED')
  expect(server.requests.length).toBeLessThanOrEqual(limits.downloadTriesMax + 3)
})

test('a connection that closes at random points never leaves a wrong file', async () => {
  const random = seeded(20_261_120)
  for (let round = 0; round < 40; round++) {
    const resumable = random.next() < 0.5
    const headers: Record<string, string> = resumable ? { ETag: '"v1"' } : {}
    const ranges = ranged(headers, (_, from) => {
      const far = random.next()
      return far < 0.3 ? media.length : from + Math.floor(far * far * 150_000)
    })
    const server = await serve({
      '/a': (socket, request, nth) =>
        random.next() < 0.1 ? socket.resetAndDestroy() : ranges(socket, request, nth),
    })
    const outcome = await take(server.url('/a')).catch((error: unknown) => error)
    if (outcome instanceof JobFailure) {
      expect(['DOWNLOAD_FAILED', 'URL_NOT_ACCESSIBLE']).toContain(outcome.code)
      expect(readdirSync(folder)).toEqual([])
    } else {
      expect(outcome).toEqual({ bytes: media.length })
      expect(readFileSync(path()).equals(media)).toBe(true)
      rmSync(path())
    }
  }
})

test('an abort rejects at once with its reason, and leaves no file', async () => {
  const reason = new JobFailure('CANCELLED')
  const resting = new AbortController()
  const server = await serve({
    '/endless': socket => {
      socket.write(head(200))
      return pour(socket, Number.POSITIVE_INFINITY)
    },
    '/broken': socket => {
      socket.once('close', () => resting.abort(reason))
      socket.end(`${head(200, { 'Content-Length': 9000 })}\x00abc`)
    },
  })
  const midway = new AbortController()
  const running = take(server.url('/endless'), {
    signal: midway.signal,
    onProgress: bytes => {
      if (bytes > 1_000_000) midway.abort(reason)
    },
  })
  expect(await running.catch((error: unknown) => error)).toBe(reason)
  expect(readdirSync(folder)).toEqual([])
  await untilClosed(server)

  const early = take(server.url('/endless'), { signal: AbortSignal.abort(reason) })
  expect(await early.catch((error: unknown) => error)).toBe(reason)

  const { pause: _, ...withRealPauses } = usual
  const paused = download(server.url('/broken'), path(), { ...withRealPauses, signal: resting.signal })
  expect(await paused.catch((error: unknown) => error)).toBe(reason)
  expect(readdirSync(folder)).toEqual([])
})

/**
 * Downloads from `scene` at `rate` bytes a second. Returns the number of received bytes. The received bytes advance the
 * simulated clock.
 */
async function takeAtRate(rate: number, scene: Scene): Promise<number> {
  const server = await serve({ '/a': scene })
  let received = 0
  const outcome = await take(server.url('/a'), {
    onProgress: bytes => (received = bytes),
    now: () => (received / rate) * 1000,
  }).catch((error: unknown) => error)
  if (outcome instanceof JobFailure)
    expect(outcome).toMatchObject({ code: 'DOWNLOAD_FAILED', message: causes.stalled })
  return received
}

test('a download at 20 KB a second goes on, one at 12 KB a second ends, also in several attempts', async () => {
  const content = Buffer.alloc(4_000_000)
  const whole: Scene = socket => answer(socket, 200, {}, content)
  expect(await takeAtRate(20 * 1024, whole)).toBe(content.length)
  expect(await takeAtRate(12 * 1024, whole)).toBeLessThan(content.length)
  // Each attempt ends before its download rate would be checked. The check must therefore count the time of all
  // attempts together.
  const inParts: Scene = (socket, request) => {
    const from = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0)
    const part = content.subarray(from, from + 700_000)
    const range = `bytes ${from}-${from + part.length - 1}/${content.length}`
    return answer(socket, 206, { ...version, 'Content-Range': range }, part)
  }
  expect(await takeAtRate(12 * 1024, inParts)).toBeLessThan(content.length)
})

test('a draft that a killed process left does not block the next download', async () => {
  const left = draftPath(path())
  await Bun.write(left, 'half of an older try')
  const server = await serve({ '/a': socket => answer(socket, 200, {}, media) })
  await take(server.url('/a'))
  expect(readdirSync(folder).toSorted()).toEqual(['media', basename(left)])
  expect(readFileSync(path()).equals(media)).toBe(true)
})

const usual = {
  bytesMax: defaults.fileBytesMax,
  allowNets: parseNets('127.0.0.0/8')!,
  resolve: async () => ['127.0.0.1'],
  ca,
  pause: async () => {},
}

function take(address: string, options: Partial<DownloadOptions> = {}): Promise<{ bytes: number }> {
  return download(address, path(), { ...usual, signal: new AbortController().signal, ...options })
}

function path(): string {
  return join(folder, 'media')
}

async function failureOf(promise: Promise<unknown>): Promise<JobFailure> {
  const outcome = await promise.catch((error: unknown) => error)
  if (!(outcome instanceof JobFailure)) throw new Error('a JobFailure was expected', { cause: outcome })
  return outcome
}

function status(code: number): Scene {
  return socket => answer(socket, code, { 'Content-Type': 'text/html' }, page)
}

function body(type: string | undefined, content: string | Uint8Array): Scene {
  return socket => answer(socket, 200, type === undefined ? {} : { 'Content-Type': type }, content)
}

/**
 * A correct server that supports range requests. It closes each connection at the offset that `until` returns. `nth`
 * counts the requests, and `from` is the first requested byte.
 */
function ranged(
  headers: Record<string, string>,
  until: (nth: number, from: number) => number,
  content = media,
): Scene {
  return (socket, request, nth) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const range = `bytes ${from}-${content.length - 1}/${content.length}`
    const top = head(from > 0 ? 206 : 200, {
      'Content-Length': content.length - from,
      ...(from > 0 ? { 'Content-Range': range } : {}),
      ...headers,
    })
    cut(socket, top, content.subarray(from, Math.max(from, until(nth, from))))
  }
}

/**
 * Returns a value for the parameter `until` of `ranged`: a function that returns the offset in the file at which the
 * server closes a connection. Here, this offset is `bytes` bytes after the first requested byte.
 */
function cutAt(bytes: number): (nth: number, from: number) => number {
  return (_, from) => from + bytes
}

function cut(socket: Socket, top: string, bytes: Uint8Array): void {
  socket.write(top)
  socket.end(bytes)
}

function asked({ headers }: Request): [string | undefined, string | undefined] {
  return [headers.range, headers['if-range']]
}

/**
 * Returns random bytes that depend only on the seed. Xorshift makes four bytes at a time, because some tests need
 * megabytes.
 */
function randomBytes(length: number, seed: number): Buffer {
  let state = seed
  const words = new Uint32Array(Math.ceil(length / 4))
  for (let index = 0; index < words.length; index++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[index] = state
  }
  return Buffer.from(words.buffer, 0, length)
}

/** Compresses at the lowest quality. The highest one, which is the default, takes 30 times as long. */
function brotli(bytes: Uint8Array): Buffer {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } })
}

/** Returns about `length` bytes in the format of gzip that decode to no bytes. They consist of empty blocks. */
function gzipOfNothing(length: number): Buffer {
  const header = gzipSync('').subarray(0, 10)
  const block = [0x00, 0x00, 0x00, 0xff, 0xff]
  const lastBlock = [0x01, ...block.slice(1)]
  const checksumAndSize = 8
  return Buffer.concat([
    header,
    Buffer.alloc(length, Buffer.from(block)),
    Buffer.from(lastBlock),
    Buffer.alloc(checksumAndSize),
  ])
}
