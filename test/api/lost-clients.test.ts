// Tests requests whose client disconnects before the response. The server logs the status 499 for such a request. It
// logs a fault only if something else has failed.

import { afterAll, beforeAll, expect, spyOn } from 'bun:test'
import { connect } from 'node:net'
import { setLogFormat } from '../../src/base/log.ts'
import type { MakePrint } from '../../src/engine/printer.ts'
import { startTestService, steered, type TestService } from '../support/service.ts'
import { metadataOf } from '../support/tus.ts'

type Account = ReturnType<TestService['account']>
/** A request without its body. */
type Head = { method: string; path: string; headers: Record<string, string> }
type Line = { event: string; level: string; route?: string }

const lines: Line[] = []
let stderr: { mockRestore(): void }

beforeAll(() => {
  setLogFormat('json')
  stderr = spyOn(process.stderr, 'write').mockImplementation(text => lines.push(JSON.parse(String(text))) > 0)
})

afterAll(() => {
  stderr.mockRestore()
  setLogFormat('silent')
})

const json = { 'Content-Type': 'application/json' }
const form = { 'Content-Type': 'multipart/form-data; boundary=xyz' }
const filePart = '--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nsound'
const created = {
  'Tus-Resumable': '1.0.0',
  'Upload-Length': '1000000',
  'Upload-Metadata': metadataOf('a.mp3'),
}
const bytes = { 'Tus-Resumable': '1.0.0', 'Content-Type': 'application/offset+octet-stream' }

async function putHead(ana: Account): Promise<Head> {
  const { body } = await ana.post('/v1/upload', { filename: 'a.mp3' })
  const { pathname, search } = new URL(body.upload_url)
  return { method: 'PUT', path: `${pathname}${search}`, headers: body.headers }
}

async function patchHead(ana: Account): Promise<Head> {
  const { headers } = await ana.send('POST', '/v1/upload/resumable', undefined, created)
  const path = headers.get('location') ?? ''
  return { method: 'PATCH', path, headers: { ...bytes, 'Upload-Offset': '0' } }
}

function postHead(path: string, headers: Record<string, string>) {
  return async (): Promise<Head> => ({ method: 'POST', path, headers })
}

const cases: [string, string, (ana: Account) => Promise<Head>][] = [
  ['/v1/upload/:id', 'sound', putHead],
  ['/v1/upload/resumable/:id', 'sound', patchHead],
  ['/v1/upload/resumable', 'sound', postHead('/v1/upload/resumable', { ...created, ...bytes })],
  ['/v1/audio/transcriptions', filePart, postHead('/v1/audio/transcriptions', form)],
  ['/v1/audio/translations', filePart, postHead('/v1/audio/translations', form)],
  ['/v1/transcribe', '{"url":', postHead('/v1/transcribe', { ...json, 'Idempotency-Key': 'a-key' })],
  ['/v1/upload', '{"filename":', postHead('/v1/upload', json)],
  ['/v1/voices', '{"name":', postHead('/v1/voices', json)],
  ['/mcp', '{"jsonrpc":', postHead('/mcp', json)],
]

steered.each(cases)('a request to %s whose body is cut gets the status 499', async (route, part, headOf) => {
  const service = await startTestService()
  const ana = service.account('ana')
  const head = await headOf(ana)
  expect(await logged(route, () => cut(service, ana, head, part))).toMatchObject([
    { event: 'request', level: 'info', method: head.method, status: 499 },
  ])
  const { text } = await service.fetch('/metrics')
  expect(text).toContain(`steno_http_requests_total{route="${route}",method="${head.method}",status="499"} 1`)
  expect(text).not.toContain('status="500"')
})

/**
 * Enrols a voice, with `fail` in place of the function that makes the voice print. If `leaves` is true, the client
 * disconnects before `fail` runs. Returns the log lines of the request.
 */
async function enrolment(leaves: boolean, fail: (signal: AbortSignal) => never): Promise<Line[]> {
  const client = new AbortController()
  const makePrint: MakePrint = async (_account, _source, signal) => {
    if (leaves) {
      const left = new Promise(resolve => signal.addEventListener('abort', resolve))
      client.abort()
      await left
    }
    return fail(signal)
  }
  const service = await startTestService({ parts: { makePrint } })
  const ana = service.account('ana')
  const body = JSON.stringify({ name: 'Ana', upload_id: await ana.upload() })
  const headers = { Authorization: `Bearer ${ana.key}`, ...json }
  const init = { method: 'POST', headers, body, signal: client.signal }
  return await logged('/v1/voices', () => fetch(`${service.url}/v1/voices`, init).catch(() => {}))
}

steered('work that ends because the client disconnected gets the status 499', async () => {
  const lines = await enrolment(true, signal => {
    throw signal.reason
  })
  expect(lines).toMatchObject([{ event: 'request', level: 'info', status: 499 }])
})

steered('a fault of the server is logged as a fault, although the client disconnected', async () => {
  const lines = await enrolment(true, () => {
    throw new Error('a fault')
  })
  expect(lines).toMatchObject([
    { event: 'request failed', level: 'error', stack: expect.stringContaining('a fault') },
    { event: 'request', level: 'warn', status: 500 },
  ])
})

steered('work that was aborted is logged as a fault, unless the client disconnected', async () => {
  const lines = await enrolment(false, () => {
    throw new DOMException('The connection was closed.', 'AbortError')
  })
  expect(lines).toMatchObject([
    { event: 'request failed', level: 'error' },
    { event: 'request', level: 'warn', status: 500 },
  ])
})

steered('a fault of the server in the checks of a body is logged as a fault', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  using _ = spyOn(service.db, 'find').mockImplementation(() => {
    throw new Error('the disk is gone')
  })
  const failed = () => ana.post('/v1/transcribe', { url: 'https://example.org/a.mp3' })
  expect(await logged('/v1/transcribe', failed)).toMatchObject([
    { event: 'request failed', level: 'error', error: 'the disk is gone' },
    { event: 'request', level: 'warn', status: 500 },
  ])
})

/** Sends a request, and disconnects before the end of its body. */
function cut({ url }: TestService, { key }: Account, { method, path, headers }: Head, part: string): void {
  const { hostname, port } = new URL(url)
  const all = { Host: 'steno.test', Authorization: `Bearer ${key}`, ...headers, 'Content-Length': '100000' }
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.end(`${method} ${path} HTTP/1.1\r\n${fields.join('')}\r\n${part}`)
}

/** Calls `send`, and waits until a request to `route` is logged. Returns the lines about this request. */
async function logged(route: string, send: () => unknown): Promise<Line[]> {
  lines.length = 0
  await send()
  while (!lines.some(line => line.route === route)) await Bun.sleep(2)
  return lines.filter(line => line.route === route || line.event === 'request failed')
}
