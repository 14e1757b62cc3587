import { expect, test } from 'bun:test'
import { idleSeconds, pauseIdleTimeout } from '../../src/api/idle-timeout.ts'
import { idleTime } from '../../src/setting-values.ts'
import { rawRequest } from '../support/raw-request.ts'
import { startTestService } from '../support/service.ts'

test('Bun may close an idle connection four seconds early, so its timeout is four seconds longer, up to 255', () => {
  const timeouts = ['1s', '2500ms', '60s', '251s'].map(given =>
    idleSeconds({ requestIdleMs: idleTime(given) }),
  )
  expect(timeouts).toEqual([5, 7, 64, 255])
  expect(() => idleTime('252s')).toThrow('from 1s to 251s')
})

test('a pause with a maximum ends by itself', async () => {
  const { promise, resolve } = Promise.withResolvers<number>()
  const server = { timeout: (_: Request, seconds: number) => seconds > 0 && resolve(seconds) }
  pauseIdleTimeout({ requestIdleMs: 1000 }, server, new Request('http://127.0.0.1/'), 1)
  expect(await promise).toBe(5)
})

test('the connection of a client that sends no further request is closed after each kind of response', async () => {
  const service = await startTestService({ settings: { STENO_REQUEST_IDLE: '1s' } })
  const ana = service.account('ana')
  const id = await ana.transcribe()
  await ana.post(`/v1/transcribe/${id}/cancel`)
  const tool = { name: 'list_transcripts', arguments: {} }
  const requests: [string, object | null][] = [
    ['GET /v1/balance', null],
    [`GET /v1/transcribe/${id}/events`, null],
    [`GET /v1/transcribe/${id}?wait=60`, null],
    ['POST /v1/voices', { name: 'Zoë', upload_id: id }],
    ['POST /mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
    ['POST /mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool }],
  ]
  const statuses = requests.map(([request, body]) => statusOfClosed(service.url, ana.key, request, body))
  expect(await Promise.all(statuses)).toEqual(['200', '200', '200', '404', '200', '200'])
})

/** Sends a request, and waits until the server closes the connection. Returns the status of the response. */
async function statusOfClosed(
  url: string,
  key: string,
  request: string,
  body: object | null,
): Promise<string> {
  const [method = '', path = ''] = request.split(' ')
  const headers = {
    Connection: 'keep-alive',
    Authorization: `Bearer ${key}`,
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
  }
  const sent = { method, path, headers, ...(body && { body: JSON.stringify(body) }) }
  const answer = await rawRequest(Number(new URL(url).port), sent)
  return answer.split(' ')[1] ?? ''
}
