// One request and its answer over a socket of its own: no pool, no proxy, no decoding, no redirects.
// node:http rather than fetch: Bun's fetch obeys HTTP_PROXY whatever it is told, and chooses its connections itself.

import { type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http'
import type { Socket } from 'node:net'
import { limits } from '../limits.ts'
import { beforeStop } from './connect.ts'

export type Message = { method: 'GET' | 'POST'; headers: Record<string, string>; body?: string | undefined }

export type Answer = {
  kind: 'answer'
  status: number
  headers: IncomingHttpHeaders
  /** Where the answer came from, after redirects and without credentials. */
  url: URL
  /** Hands over the body chunk by chunk; the next is read from the network when `take` is done with the last. */
  read(take: (bytes: Uint8Array) => Promise<void>, stall: Stall): Promise<BodyEnd>
  /** Gives up the rest of the body. */
  close(): void
}

/** Fewer than `bytesMin` bytes within `stallMs` are a stall. */
export type Stall = { stallMs: number; bytesMin: number }
export type BodyEnd = 'complete' | 'interrupted' | 'stalled'

export type NoAnswer = { kind: 'answer-timeout' | 'broken-answer' }

/** Rejects with the signal's reason when it is aborted. */
export async function exchange(
  socket: Socket,
  url: URL,
  { method, headers, body }: Message,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Answer | NoAnswer> {
  const late = AbortSignal.timeout(timeoutMs)
  const { promise, resolve } = Promise.withResolvers<IncomingMessage | NoAnswer>()
  const sent = send({
    createConnection: () => socket,
    method,
    path: url.pathname + url.search,
    headers: { Host: url.host, ...headers, Connection: 'close' },
    // Bare line feeds, folded headers, a length beside chunks: browsers read them, and with one exchange to a
    // connection there is no second answer that could be smuggled in.
    insecureHTTPParser: true,
    maxHeaderSize: limits.answerHeaderBytesMax,
  })
  sent.once('response', resolve)
  sent.on('error', () => resolve({ kind: 'broken-answer' }))
  sent.once('close', () => resolve({ kind: 'broken-answer' }))
  sent.end(body)
  const response = await beforeStop(promise, AbortSignal.any([signal, late]))
  if (response === null || 'kind' in response) {
    sent.destroy()
    socket.destroy()
    signal.throwIfAborted()
    return response ?? { kind: 'answer-timeout' }
  }
  // An error after the headers is told by the body's end; without a listener it would end the process.
  response.on('error', () => {})
  return {
    kind: 'answer',
    status: response.statusCode ?? 0,
    headers: response.headers,
    url,
    read: (take, stall) => readBody(response, socket, take, stall, signal),
    close: () => {
      response.destroy()
      socket.destroy()
    },
  }
}

async function readBody(
  response: IncomingMessage,
  socket: Socket,
  take: (bytes: Uint8Array) => Promise<void>,
  { stallMs, bytesMin }: Stall,
  signal: AbortSignal,
): Promise<BodyEnd> {
  let stalled = false
  let waiting = true
  let bytesInWindow = 0
  const hangUp = () => response.destroy()
  const window = setInterval(() => {
    stalled = waiting && bytesInWindow < bytesMin
    bytesInWindow = 0
    if (stalled) hangUp()
  }, stallMs)
  signal.addEventListener('abort', hangUp, { once: true })
  try {
    signal.throwIfAborted()
    const chunks = response[Symbol.asyncIterator]()
    for (;;) {
      const chunk = await chunks.next().catch(() => null)
      signal.throwIfAborted()
      if (stalled) return 'stalled'
      if (chunk === null) return 'interrupted'
      if (chunk.done) return response.complete ? 'complete' : 'interrupted'
      bytesInWindow += chunk.value.length
      waiting = false
      await take(chunk.value)
      waiting = true
    }
  } finally {
    clearInterval(window)
    signal.removeEventListener('abort', hangUp)
    response.destroy()
    socket.destroy()
  }
}
