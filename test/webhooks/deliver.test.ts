import { expect, spyOn, test } from 'bun:test'
import { signingSecretOf } from '../../src/accounts/signing-secret.ts'
import { limits } from '../../src/limits.ts'
import { parseNets } from '../../src/net/nets.ts'
import { type DeliveryOptions, deliver, type Outcome } from '../../src/webhooks/deliver.ts'
import { signedHeaders } from '../../src/webhooks/sign.ts'
import {
  answer,
  ca,
  head,
  hostileServers,
  pour,
  redirect,
  type Scene,
  untilClosed,
} from '../support/hostile-server.ts'

const loopback = parseNets('127.0.0.0/8')!
const nothing = parseNets('')!
const body = '{"event":"transcription.completed","text":"Grüezi 👋"}'
const signingSecret = signingSecretOf('sk_live_test')
const nowMs = 1_795_000_000_123

const serve = hostileServers()

test.each([{ tls: false }, { tls: true }])('a webhook is one signed POST (%p)', async options => {
  const server = await serve({ '/hook': socket => answer(socket, 204) }, options)

  expect(await post(server.url('/hook?from=steno'))).toEqual({ kind: 'delivered', status: 204 })

  const signed = signedHeaders(body, { signingSecret, nowMs })
  expect(server.requests).toHaveLength(1)
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: '/hook?from=steno',
    body,
    headers: {
      host: `media.test:${server.port}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': 'service-webhook/1',
      'x-service-timestamp': signed['X-Service-Timestamp'],
      'x-service-signature': signed['X-Service-Signature'],
    },
  })
})

test.each([
  [200, 'delivered'],
  [202, 'delivered'],
  [299, 'delivered'],
  [304, 'refused'],
  [400, 'refused'],
  [404, 'refused'],
  [410, 'refused'],
  [500, 'refused'],
  [503, 'refused'],
] as const)('after status %i, the outcome is %s, and the webhook is not sent again', async (status, kind) => {
  const server = await serve({ '/hook': socket => answer(socket, status) })
  expect(await post(server.url('/hook'))).toEqual({ kind, status })
  expect(server.requests).toHaveLength(1)
})

test.each([301, 302, 303, 307, 308])('a %i is followed once, as a POST of the same bytes', async status => {
  const server = await serve({
    '/hook': redirect('new?a=1', status),
    '/new': socket => answer(socket, 200),
  })
  expect(await post(server.url('/hook'))).toEqual({ kind: 'delivered', status: 200 })
  const [first, second] = server.requests
  expect(second).toEqual({ ...first!, path: '/new?a=1' })
})

test('a second redirect is not followed', async () => {
  const server = await serve({
    '/hook': redirect('/two'),
    '/two': redirect('/three', 307),
    '/three': socket => answer(socket, 200),
  })
  expect(await post(server.url('/hook'))).toEqual({ kind: 'refused', status: 307 })
  expect(server.requests.map(({ path }) => path)).toEqual(['/hook', '/two'])
})

test('a redirect without a Location is a refusal', async () => {
  const server = await serve({ '/hook': socket => answer(socket, 302) })
  expect(await post(server.url('/hook'))).toEqual({ kind: 'refused', status: 302 })
})

test('no redirect leads to another scheme or into a network that is not allowed', async () => {
  const inner = await serve({ '/hook': socket => answer(socket, 200) })
  const server = await serve({
    '/file': redirect('file:///etc/passwd'),
    '/inner': redirect(`http://127.0.0.9:${inner.port}/hook`),
    '/name': redirect(inner.url('/hook', 'inner.test')),
  })
  const allowNets = parseNets('127.0.0.1')!
  const resolve = async (name: string) => [name === 'inner.test' ? '127.0.0.9' : '127.0.0.1']

  expect(await post(server.url('/file'))).toEqual({ kind: 'unreachable', why: 'bad-scheme' })
  expect(await post(server.url('/inner'), { allowNets })).toEqual({ kind: 'forbidden-address' })
  expect(await post(server.url('/name'), { allowNets, resolve })).toEqual({ kind: 'forbidden-address' })
  expect(inner.requests).toEqual([])
})

test('plain http reaches only allowed networks, also after a redirect from https', async () => {
  const plain = await serve({ '/hook': socket => answer(socket, 200) })
  // `public.test` has a public IP address, and all other names have the address of this machine. The sender refuses
  // plain http to a public IP address before it connects.
  const publicName = async () => ['93.184.215.14']
  const secure = await serve(
    { '/hook': redirect('http://public.test/hook'), '/down': redirect(plain.url('/hook')) },
    { tls: true },
  )
  const resolve = async (name: string) => (name === 'public.test' ? publicName() : ['127.0.0.1'])

  expect(await post('http://public.test/hook', { resolve })).toEqual({ kind: 'forbidden-address' })
  expect(await post(secure.url('/hook'), { resolve })).toEqual({ kind: 'forbidden-address' })
  expect(await post(secure.url('/down'), { resolve })).toEqual({ kind: 'delivered', status: 200 })
})

test('without an allowed network, no address of this machine is reached', async () => {
  const server = await serve({ '/hook': socket => answer(socket, 200) }, { tls: true })
  for (const host of ['media.test', '127.0.0.1', '[::ffff:127.0.0.1]', '2130706433']) {
    expect(await post(server.url('/hook', host), { allowNets: nothing })).toEqual({
      kind: 'forbidden-address',
    })
  }
  expect(server.requests).toEqual([])
})

const unreachable: [string, Scene, Outcome][] = [
  ['sends no answer and disconnects', socket => socket.end(), { kind: 'unreachable', why: 'broken-answer' }],
  ['does not speak HTTP', socket => socket.end('+OK\r\n'), { kind: 'unreachable', why: 'broken-answer' }],
  ['never answers', () => {}, { kind: 'timeout' }],
  ['never ends its headers', socket => void socket.write('HTTP/1.1 200 OK\r\nX: '), { kind: 'timeout' }],
]

test.each(unreachable)('a receiver that %s leads to an outcome', async (_, scene, outcome) => {
  const server = await serve({ '/hook': scene })
  // The timeout is short only if a timeout is the expected outcome. In the other cases it is long, because on a busy
  // machine the expected outcome may come late.
  const timeoutMs = outcome.kind === 'timeout' ? 200 : 10_000
  expect(await post(server.url('/hook'), { timeoutMs })).toEqual(outcome)
  await untilClosed(server)
})

test('an unknown name, a closed port, a bad certificate and an invalid URL have their own outcomes', async () => {
  const server = await serve({ '/hook': socket => answer(socket, 200) }, { tls: true })
  expect(await post('https://nowhere.test/', { resolve: async () => [] })).toEqual({
    kind: 'unreachable',
    why: 'unknown-name',
  })
  expect(await post('http://127.0.0.1:1/')).toEqual({ kind: 'unreachable', why: 'refused' })
  expect(await post(server.url('/hook', 'wrong.test'))).toEqual({ kind: 'unreachable', why: 'tls' })
  expect(await post('nonsense')).toEqual({ kind: 'unreachable', why: 'bad-url' })
})

test('a delivery has no timeout but its own, so a longer one is used in full', async () => {
  const timeouts = spyOn(AbortSignal, 'timeout')
  const server = await serve({ '/hook': redirect('/new'), '/new': socket => answer(socket, 204) })
  const timeoutMs = 2 * limits.answerTimeoutMs
  expect(await post(server.url('/hook'), { timeoutMs })).toEqual({ kind: 'delivered', status: 204 })
  expect(new Set(timeouts.mock.calls.map(([ms]) => ms))).toEqual(new Set([timeoutMs]))
  timeouts.mockRestore()
})

test('the timeout covers the redirect too', async () => {
  const server = await serve({ '/hook': redirect('/slow'), '/slow': () => {} })
  expect(await post(server.url('/hook'), { timeoutMs: 1000 })).toEqual({ kind: 'timeout' })
  expect(server.requests).toHaveLength(2)
})

test('an endless response body is not read', async () => {
  const server = await serve({
    '/hook': socket => {
      socket.write(head(200))
      return pour(socket, Number.POSITIVE_INFINITY)
    },
  })
  expect(await post(server.url('/hook'))).toEqual({ kind: 'delivered', status: 200 })
  await untilClosed(server)
})

test('a delivery that its caller aborts has an outcome and throws nothing', async () => {
  const stopping = new AbortController()
  const server = await serve({ '/hook': () => stopping.abort() })
  expect(await post(server.url('/hook'), { signal: stopping.signal })).toEqual({ kind: 'stopped' })
})

test('an error of this program is thrown, and not reported as a timeout', async () => {
  const url = 'http://media.test/hook'
  await expect(post(url, { signingSecret: undefined as never })).rejects.toThrow(TypeError)
})

test('credentials in the address are sent to its own origin only', async () => {
  const other = await serve({ '/hook': socket => answer(socket, 200) })
  const server = await serve({ '/hook': redirect(other.url('/hook')) })
  await post(server.url('/hook').replace('://', '://ana:secret@'))
  expect(server.requests[0]?.headers.authorization).toBe(`Basic ${btoa('ana:secret')}`)
  expect(other.requests[0]?.headers).not.toHaveProperty('authorization')
})

async function post(url: string, options: Partial<DeliveryOptions> = {}): Promise<Outcome> {
  return deliver(url, body, {
    signingSecret,
    nowMs,
    timeoutMs: 10_000,
    allowNets: loopback,
    resolve: async () => ['127.0.0.1'],
    ca,
    ...options,
  })
}
