import { afterEach, expect, jest, test } from 'bun:test'
import type { Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { limits } from '../../src/limits.ts'
import { type ConnectOptions, type FetchFailure, fetchGuarded } from '../../src/net/fetch.ts'
import { parseNets } from '../../src/net/nets.ts'
import {
  answer,
  ca,
  deafPort,
  drip,
  head,
  hostileServers,
  pour,
  redirect,
  type Scene,
  untilClosed,
} from '../support/hostile-server.ts'

const loopback = parseNets('127.0.0.0/8')!
const nothing = parseNets('')!
const serve = hostileServers()
afterEach(() => jest.useRealTimers())
const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some(each => each?.address === '::1')

test('a name is resolved once, and the connection uses the address that was checked', async () => {
  const server = await serve({ '/a': socket => answer(socket, 200, {}, 'ok') })
  const asked: string[] = []
  const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.2']]
  const resolve = async (name: string) => {
    asked.push(name)
    return answers[asked.length - 1] ?? []
  }

  const result = await get(server.url('/a'), { resolve })

  expect(result).toMatchObject({ status: 200, text: 'ok' })
  expect(asked).toEqual(['media.test'])
  expect(server.requests[0]?.headers.host).toBe(`media.test:${server.port}`)
})

test('a name whose address becomes private between two hops gets no second connection', async () => {
  const server = await serve({ '/a': redirect('/b'), '/b': socket => answer(socket, 200, {}, 'secret') })
  const answers = [['127.0.0.1'], ['127.9.9.9']]
  const resolve = async () => answers.shift() ?? []

  const result = await get(server.url('/a'), { resolve, allowNets: parseNets('127.0.0.1')! })

  expect(result).toEqual({ kind: 'forbidden-address' })
  expect(server.requests.map(({ path }) => path)).toEqual(['/a'])
})

test('of several addresses only those that may be reached are tried, one after another', async () => {
  const server = await serve({ '/a': socket => answer(socket, 200, {}, 'ok') })
  // The server listens only at 127.0.0.1. `allowNets` allows 127.9.9.9 and 127.0.0.1 in the first request, only
  // 127.9.9.9 in the second one, and no address in the third one.
  const resolve = async () => ['127.0.0.2', '127.9.9.9', '127.0.0.1']

  expect(
    await get(server.url('/a'), { resolve, allowNets: parseNets('127.9.9.9,127.0.0.1')! }),
  ).toMatchObject({
    status: 200,
  })
  expect(await get(server.url('/a'), { resolve, allowNets: parseNets('127.9.9.9')! })).toEqual({
    kind: 'refused',
  })
  expect(await get(server.url('/a'), { resolve, allowNets: nothing })).toEqual({ kind: 'forbidden-address' })
})

test('at most eight addresses of a name are tried', async () => {
  const server = await serve({ '/a': socket => answer(socket, 200, {}, 'ok') })
  const deaf = (length: number) => Array.from({ length }, (_, index) => `127.9.9.${index}`)
  const resolve = (length: number) => async () => [...deaf(length), '127.0.0.1']
  const most = limits.connectAddressesMax
  expect(await get(server.url('/a'), { resolve: resolve(most - 1) })).toMatchObject({ text: 'ok' })
  expect(await get(server.url('/a'), { resolve: resolve(most) })).toEqual({ kind: 'refused' })
})

test.each(['127.0.0.1', '127.1', '2130706433', '0x7f.0.0.1', '0177.1', '[::ffff:127.0.0.1]', '[::1]', '0'])(
  'the private address %s is refused in every spelling, also as the target of a redirect',
  async host => {
    const server = await serve({ '/a': socket => answer(socket, 200, {}, 'secret') })
    const door = await serve({ '/to': redirect(`http://${host}:${server.port}/a`) }, { address: '127.0.0.5' })
    const way = { allowNets: parseNets('127.0.0.5')!, resolve: async () => ['127.0.0.5'] }

    expect(await get(`http://${host}:${server.port}/a`, way)).toEqual({ kind: 'forbidden-address' })
    expect(await get(door.url('/to'), way)).toEqual({ kind: 'forbidden-address' })
    expect(door.requests).toHaveLength(1)
    expect(server.requests).toEqual([])
  },
)

test('the target of a redirect is checked like the first address', async () => {
  const inner = await serve({ '/a': socket => answer(socket, 200, {}, 'secret') })
  const server = await serve({ '/to': redirect(`http://inner.test:${inner.port}/a`) })
  const resolve = async (name: string) => [name === 'inner.test' ? '127.0.0.2' : '127.0.0.1']

  const result = await get(server.url('/to'), { resolve, allowNets: parseNets('127.0.0.1')! })

  expect(result).toEqual({ kind: 'forbidden-address' })
  expect(inner.requests).toEqual([])
})

test.each([301, 302, 303, 307, 308])('a %i is followed, relative to its own address', async status => {
  const server = await serve({
    '/a/b': redirect('../c?x=1#part', status),
    '/c': socket => answer(socket, 200, {}, 'ok'),
  })
  const result = await get(server.url('/a/b'))
  expect(result).toMatchObject({ status: 200, url: server.url('/c?x=1') })
})

test.each([300, 304])('a %i is returned as an answer', async status => {
  const server = await serve({ '/a': redirect('/b', status) })
  expect(await get(server.url('/a'))).toMatchObject({ status })
})

test('a redirect without a Location is returned as an answer', async () => {
  const server = await serve({ '/a': socket => answer(socket, 302) })
  expect(await get(server.url('/a'))).toMatchObject({ status: 302 })
})

test('redirects stop at their limit, also in a loop', async () => {
  const server = await serve({
    '/1': socket => socket.write(head(302, { Location: '/2', 'Content-Length': 9 })),
    '/2': redirect('/3'),
    '/3': socket => answer(socket, 200, {}, 'ok'),
    '/loop': redirect('/loop'),
  })
  expect(await get(server.url('/1'), {}, { redirectsMax: 2 })).toMatchObject({ status: 200 })
  expect(await get(server.url('/1'), {}, { redirectsMax: 1 })).toEqual({
    kind: 'too-many-redirects',
    status: 302,
  })
  server.requests.length = 0
  expect(await get(server.url('/loop'), {}, { redirectsMax: 5 })).toMatchObject({
    kind: 'too-many-redirects',
  })
  expect(server.requests).toHaveLength(6)
  await untilClosed(server)
})

test.each(['utf8', 'latin1'] as const)('the address in a redirect may be in %s', async encoding => {
  const moved = 'HTTP/1.1 302 Found\r\nLocation: /café\r\nContent-Length: 0\r\n\r\n'
  const server = await serve({
    '/a': socket => socket.end(Buffer.from(moved, encoding)),
    '/caf%C3%A9': socket => answer(socket, 200, {}, 'ok'),
  })
  expect(await get(server.url('/a'))).toMatchObject({ text: 'ok' })
})

test.each([
  ['ftp://media.test/a', 'bad-scheme'],
  ['file:///etc/passwd', 'bad-scheme'],
  ['data:audio/wav;base64,AAAA', 'bad-scheme'],
  ['javascript:alert(1)', 'bad-scheme'],
  ['http://', 'bad-url'],
  ['no address', 'bad-url'],
  ['http://256.1.1.1/', 'bad-url'],
])('%s is refused: %s', async (address, kind) => {
  const server = await serve({ '/to': redirect(address) })
  expect(await get(address)).toEqual({ kind } as FetchFailure)
  if (address.includes(':') && kind === 'bad-scheme') {
    expect(await get(server.url('/to'))).toEqual({ kind } as FetchFailure)
  }
})

test('credentials in the address are sent only to its own origin', async () => {
  const other = await serve({ '/b': socket => answer(socket, 200, {}, 'ok') })
  const server = await serve({
    '/a': redirect('/again'),
    '/again': redirect(`http://ben:secret@other.test:${other.port}/b`),
  })
  const address = server.url('/a').replace('://', '://ana:p%40ss@')

  const result = await get(address)

  const expected = `Basic ${Buffer.from('ana:p@ss').toString('base64')}`
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([expected, expected])
  expect(other.requests[0]?.headers).not.toHaveProperty('authorization')
  expect(result).toMatchObject({ url: other.url('/b', 'other.test') })
})

test('a cookie that a redirect sets is sent to the same origin only', async () => {
  const other = await serve({ '/b': redirect('/c'), '/c': socket => answer(socket, 200) })
  const server = await serve({
    '/a': socket => answer(socket, 302, { Location: '/again', 'Set-Cookie': 'FedAuth=abc=; path=/; secure' }),
    '/again': redirect(`http://other.test:${other.port}/b`),
  })
  await get(server.url('/a'))
  expect(server.requests.map(({ headers }) => headers.cookie)).toEqual([undefined, 'FedAuth=abc='])
  expect(other.requests.map(({ headers }) => headers.cookie)).toEqual([undefined, undefined])
})

test('proxy settings of the environment are ignored', async () => {
  const proxy = await serve({})
  const server = await serve({ '/a': socket => answer(socket, 200, {}, 'direct') })
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']
  const before = names.map(name => [name, process.env[name]] as const)
  for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`
  try {
    expect(await get(server.url('/a'))).toMatchObject({ text: 'direct' })
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  expect(proxy.requests).toEqual([])
})

test('every request has a connection of its own', async () => {
  const server = await serve({
    '/a': socket => {
      socket.write(`${head(200, { 'Content-Length': 2, Connection: 'keep-alive' })}ok`)
    },
  })
  const asked: string[] = []
  const resolve = async (name: string) => {
    asked.push(name)
    return ['127.0.0.1']
  }
  for (let count = 0; count < 3; count++) {
    expect(await get(server.url('/a'), { resolve })).toMatchObject({ text: 'ok' })
  }
  expect(asked).toHaveLength(3)
  await untilClosed(server)
})

const bodies: Record<string, [Scene, string]> = {
  'shorter than its Content-Length': [
    socket => socket.end(`${head(200, { 'Content-Length': 100 })}abc`),
    'interrupted',
  ],
  'reset in the middle': [
    socket => socket.write(`${head(200, { 'Content-Length': 100 })}abc`, () => socket.resetAndDestroy()),
    'interrupted',
  ],
  'longer than its Content-Length': [
    socket => socket.end(`${head(200, { 'Content-Length': 3 })}abcdefgh`),
    'complete',
  ],
  'chunked and ended': [
    socket => socket.end(`${head(200, { 'Transfer-Encoding': 'chunked' })}3\r\nabc\r\n0\r\n\r\n`),
    'complete',
  ],
  'chunked and cut between chunks': [
    socket => socket.end(`${head(200, { 'Transfer-Encoding': 'chunked' })}3\r\nabc\r\n`),
    'interrupted',
  ],
  'chunked and cut within a chunk': [
    socket => socket.end(`${head(200, { 'Transfer-Encoding': 'chunked' })}ff\r\nabc`),
    'interrupted',
  ],
  'chunked with an invalid size': [
    socket => socket.end(`${head(200, { 'Transfer-Encoding': 'chunked' })}3\r\nabc\r\nzz\r\nabc\r\n`),
    'interrupted',
  ],
  'of no stated length': [socket => socket.end(`${head(200)}abc`), 'complete'],
  'silent after its first bytes': [socket => socket.write(`${head(200)}abc`), 'stalled'],
  dripping: [socket => drip(socket), 'stalled'],
}

test.each(Object.entries(bodies))('a body %s', async (_, [scene, end]) => {
  const server = await serve({ '/a': scene })
  // `stallMs` is short only if a stall is the expected outcome. In the other cases it is long, because on a busy
  // machine a body that ends late would count as a stall.
  const stallMs = end === 'stalled' ? 100 : 10_000
  const result = await get(server.url('/a'), {}, { stallMs })
  expect(result).toMatchObject({ end })
  // When a connection breaks, bytes of the body may be lost. Only the text of a complete body is compared.
  if (end === 'complete') expect(result).toMatchObject({ text: 'abc' })
  await untilClosed(server)
})

test.each([
  { parts: 1, bytes: 3, busyMs: 5900, pauseMs: 999, end: 'complete' },
  { parts: 1, bytes: 3, busyMs: 5900, pauseMs: 1000, end: 'stalled' },
  { parts: 3, bytes: 1000, busyMs: 0, pauseMs: 600, end: 'complete' },
  { parts: 3, bytes: 999, busyMs: 0, pauseMs: 600, end: 'stalled' },
] as const)(
  'a body stalls if fewer than 1000 bytes arrive in 1000 ms of waiting: $parts parts of $bytes bytes, each with $busyMs ms of work and then $pauseMs ms of waiting: $end',
  async ({ parts, bytes, busyMs, pauseMs, end }) => {
    const sending = Promise.withResolvers<Socket>()
    const part = 'a'.repeat(bytes)
    const server = await serve({
      '/a': socket => {
        socket.write(head(200) + part)
        sending.resolve(socket)
      },
    })
    const response = await request(server.url('/a'))
    if (response.kind !== 'answer') throw new Error(response.kind)
    const socket = await sending.promise
    jest.useFakeTimers()
    let sent = 1
    const take = async () => {
      jest.advanceTimersByTime(busyMs)
      // The function runs in a later turn of the event loop, when `read` waits for the next part. The clock advances
      // during this wait.
      void setImmediate().then(() => {
        jest.advanceTimersByTime(pauseMs)
        if (sent++ < parts) socket.write(part)
        else socket.end()
      })
    }
    expect(await response.read(take, { stallMs: 1000, bytesMin: 1000 })).toBe(end)
  },
)

test('a Content-Encoding is not decoded', async () => {
  const packed = Bun.gzipSync(new Uint8Array(100_000))
  const server = await serve({
    '/a': socket => answer(socket, 200, { 'Content-Encoding': 'gzip' }, packed),
  })
  const result = await get(server.url('/a'))
  expect(server.requests[0]?.headers['accept-encoding']).toBe('identity')
  expect(result).toMatchObject({ bytes: packed.length })
})

test.each([
  ['bare line feeds', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
  ['no reason', 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok'],
  ['40 KB of headers', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(40_000)}\r\nContent-Length: 2\r\n\r\nok`],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nok'],
  ['a folded header', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok'],
  ['a name in UTF-8', 'HTTP/1.1 200 OK\r\nX-Name: Zürich 日本\r\nContent-Length: 2\r\n\r\nok'],
  [
    'a length beside chunks',
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  ],
])('what browsers read is read: %s', async (_, text) => {
  const server = await serve({ '/a': socket => socket.end(text) })
  expect(await get(server.url('/a'))).toMatchObject({ status: 200, text: 'ok', end: 'complete' })
})

const noAnswers: Record<string, [Scene, FetchFailure['kind']]> = {
  'hangs up': [socket => socket.end(), 'broken-answer'],
  resets: [socket => socket.resetAndDestroy(), 'broken-answer'],
  'speaks another protocol': [socket => socket.end('SSH-2.0-OpenSSH_9\r\n\r\n'), 'broken-answer'],
  'hangs up within its headers': [socket => socket.end('HTTP/1.1 200 OK\r\nContent-'), 'broken-answer'],
  'contradicts itself on the length': [
    socket => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde'),
    'broken-answer',
  ],
  'floods with headers': [floodHeaders, 'broken-answer'],
  'floods with promises': [floodPromises, 'broken-answer'],
  'switches protocols': [
    socket => socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    'broken-answer',
  ],
  'says nothing': [() => {}, 'answer-timeout'],
  'drips its headers': [socket => drip(socket, 'HTTP/1.1 200 OK\r\nX: '), 'answer-timeout'],
  'promises without end': [socket => drip(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n'), 'answer-timeout'],
}

test.each(Object.entries(noAnswers))('a server that %s', async (_, [scene, kind]) => {
  const server = await serve({ '/a': scene })
  const patience = kind === 'answer-timeout' ? { answerTimeoutMs: 200 } : {}
  expect(await get(server.url('/a'), patience)).toEqual({ kind } as FetchFailure)
  await untilClosed(server)
})

test('1xx answers are skipped', async () => {
  const server = await serve({
    '/a': socket =>
      socket.end(
        'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
      ),
  })
  expect(await get(server.url('/a'))).toMatchObject({ status: 200, text: 'ok', end: 'complete' })
})

test('an unknown name, a refused connection and a slow look-up are different failures', async () => {
  const server = await serve({})
  const address = server.url('/a')
  await server.stop()
  expect(await get(address)).toEqual({ kind: 'refused' })
  expect(await get(address, { resolve: async () => [] })).toEqual({ kind: 'unknown-name' })
  const failing = () => Promise.reject(new Error('ENOTFOUND'))
  expect(await get(address, { resolve: failing })).toEqual({ kind: 'unknown-name' })
  const endless = () => new Promise<string[]>(() => {})
  expect(await get(address, { resolve: endless, connectTimeoutMs: 50 })).toEqual({ kind: 'connect-timeout' })
})

test('the certificate must match the name, not the address behind it', async () => {
  const server = await serve({ '/a': socket => answer(socket, 200, {}, 'ok') }, { tls: true })
  expect(await get(server.url('/a'))).toMatchObject({ status: 200, text: 'ok', end: 'complete' })
  expect(await get(server.url('/a', 'other.test'))).toMatchObject({ status: 200 })
  expect(await get(server.url('/a', '127.0.0.1'))).toMatchObject({ status: 200 })
  server.requests.length = 0
  expect(await get(server.url('/a', 'wrong.test'))).toEqual({ kind: 'tls', cause: 'name' })
  expect(await get(server.url('/a', '127.0.0.2'))).toMatchObject({ kind: 'refused' })
  expect(await get(server.url('/a'), { ca: undefined })).toEqual({ kind: 'tls', cause: 'authority' })
  expect(server.requests).toEqual([])
})

test('NODE_TLS_REJECT_UNAUTHORIZED is ignored', async () => {
  const server = await serve({ '/a': socket => answer(socket, 200, {}, 'ok') }, { tls: true })
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  try {
    expect(await get(server.url('/a', 'wrong.test'))).toEqual({ kind: 'tls', cause: 'name' })
  } finally {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  }
})

test('a server without TLS is a named failure', async () => {
  const server = await serve({}, { greeting: 'HTTP/1.1 400 Bad Request\r\n\r\n' })
  const address = server.url('/a').replace('http:', 'https:')
  expect(await get(address)).toEqual({ kind: 'tls', cause: 'handshake' })
})

test('a server that never answers the handshake times out, and its connection is closed', async () => {
  const server = await serve({})
  const address = server.url('/a').replace('http:', 'https:')
  expect(await get(address, { connectTimeoutMs: 100 })).toEqual({ kind: 'connect-timeout' })
  await untilClosed(server)
})

test('a body over TLS that is cut off is reported as interrupted', async () => {
  const server = await serve(
    { '/a': socket => socket.write(`${head(200, { 'Content-Length': 9 })}abc`, () => socket.destroy()) },
    { tls: true },
  )
  expect(await get(server.url('/a'))).toMatchObject({ end: 'interrupted' })
})

test('an abort ends the call at every stage with its reason, and closes the connection', async () => {
  const reached = Promise.withResolvers<void>()
  const server = await serve({
    '/silent': () => reached.resolve(),
    '/endless': socket => {
      socket.write(head(200))
      return pour(socket, Number.POSITIVE_INFINITY)
    },
    '/silent-body': socket => socket.write(`${head(200)}abc`),
  })
  const reason = new Error('no longer wanted')

  const before = AbortSignal.abort(reason)
  await expect(get(server.url('/silent'), {}, { signal: before })).rejects.toBe(reason)

  const resolving = new AbortController()
  const slowName = () => {
    resolving.abort(reason)
    return new Promise<string[]>(() => {})
  }
  const named = get(server.url('/silent'), { resolve: slowName }, { signal: resolving.signal })
  await expect(named).rejects.toBe(reason)

  const waiting = new AbortController()
  const silent = get(server.url('/silent'), {}, { signal: waiting.signal })
  await reached.promise
  waiting.abort(reason)
  await expect(silent).rejects.toBe(reason)

  const reading = new AbortController()
  const endless = get(
    server.url('/endless'),
    {},
    { signal: reading.signal, onBytes: () => reading.abort(reason) },
  )
  await expect(endless).rejects.toBe(reason)
  const midway = new AbortController()
  const silentBody = get(
    server.url('/silent-body'),
    {},
    { signal: midway.signal, onBytes: () => midway.abort(reason) },
  )
  await expect(silentBody).rejects.toBe(reason)
  await untilClosed(server)
})

test.skipIf(!hasIpv6)('IPv6 works (skipped where the machine has no ::1)', async () => {
  const server = await serve({ '/a': socket => answer(socket, 200, {}, 'ok') }, { address: '::1' })
  const way = { allowNets: parseNets('::1')!, resolve: async () => ['::1'] }
  expect(await get(server.url('/a', '[::1]'), way)).toMatchObject({ text: 'ok' })
  expect(await get(server.url('/a'), way)).toMatchObject({ text: 'ok' })
  expect(await get(server.url('/a'), { ...way, allowNets: loopback })).toEqual({ kind: 'forbidden-address' })
})

test('the next address is tried while one does not answer; if no address answers, the request times out', async () => {
  const server = await serve({ '/a': socket => answer(socket, 200, {}, 'ok') })
  const deaf = await deafPort('127.0.0.6', server.port)
  try {
    const both = async () => ['127.0.0.6', '127.0.0.1']
    expect(await get(server.url('/a'), { resolve: both })).toMatchObject({ text: 'ok' })
    const alone = async () => ['127.0.0.6']
    const connectTimeoutMs = limits.connectNextAfterMs + 100
    expect(await get(server.url('/a'), { resolve: alone, connectTimeoutMs })).toEqual({
      kind: 'connect-timeout',
    })
  } finally {
    await deaf.stop()
  }
})

type Extra = {
  redirectsMax?: number
  stallMs?: number
  signal?: AbortSignal
  onBytes?: () => void
}

function request(
  address: string,
  way: Partial<ConnectOptions> = {},
  { redirectsMax = 5, signal = new AbortController().signal }: Extra = {},
) {
  return fetchGuarded(
    address,
    { method: 'GET', headers: {}, redirectsMax },
    { allowNets: loopback, resolve: async () => ['127.0.0.1'], ca, ...way },
    signal,
  )
}

async function get(address: string, way: Partial<ConnectOptions> = {}, extra: Extra = {}) {
  const { stallMs = 10_000, onBytes } = extra
  const result = await request(address, way, extra)
  if (result.kind !== 'answer') return result
  const chunks: Uint8Array[] = []
  const end = await result.read(
    async bytes => {
      chunks.push(bytes)
      onBytes?.()
    },
    { stallMs, bytesMin: 1000 },
  )
  const body = Buffer.concat(chunks)
  return {
    status: result.status,
    url: result.url.href,
    end,
    bytes: body.length,
    text: body.toString('latin1'),
  }
}

function floodPromises(socket: Parameters<Scene>[0]): void {
  const promise = 'HTTP/1.1 100 Continue\r\n\r\n'
  void pour(socket, Number.POSITIVE_INFINITY, Buffer.from(promise.repeat(1000)))
}

function floodHeaders(socket: Parameters<Scene>[0]): void {
  socket.write('HTTP/1.1 200 OK\r\n')
  void pour(socket, Number.POSITIVE_INFINITY, Buffer.from(`X-Flood: ${'a'.repeat(1000)}\r\n`))
}
