// Sends one request over a given socket, and reads the response. It uses no connection pool and no proxy, does not
// decompress the body, and follows no redirect. Bun's fetch is not used, because it obeys HTTP_PROXY and opens its own
// connection.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { http } from '../base/late-modules.ts'
import { limits } from '../limits.ts'
import { type BodyEnd, readBody, type Stall } from './answer-body.ts'
import { beforeStop } from './before-stop.ts'

export type HttpRequest = {
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string | undefined
}

export type Answer = {
  kind: 'answer'
  status: number
  headers: IncomingHttpHeaders
  /** The URL that answered the request, without user name and password. */
  url: URL
  /**
   * Reads the body of the response. Passes each chunk to `take`, and waits for `take` before it reads the next one. If
   * the body stalls, returns `stalled`.
   */
  read(take: (bytes: Uint8Array) => Promise<void>, stall: Stall): Promise<BodyEnd>
  /** Closes the connection. The unread part of the body is lost. */
  close(): void
}

export type NoAnswer = { kind: 'answer-timeout' | 'broken-answer' }

/**
 * Sends the request, and returns the response. Returns a NoAnswer if the request times out, the connection breaks, or
 * the response is not valid. Rejects only if `signal` is aborted.
 */
export async function exchange(
  socket: Socket,
  url: URL,
  { method, headers, body }: HttpRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Answer | NoAnswer> {
  const late = AbortSignal.timeout(timeoutMs)
  const { promise, resolve } = Promise.withResolvers<IncomingMessage | NoAnswer>()
  const sent = http().request({
    createConnection: () => socket,
    method,
    path: url.pathname + url.search,
    headers: { Host: url.host, ...headers, Connection: 'close' },
    // Accepts some faults, as browsers do: bare line feeds, folded headers, and Content-Length with chunked encoding.
    // They allow no request smuggling here, because a connection carries only one response.
    insecureHTTPParser: true,
    maxHeaderSize: limits.answerHeaderBytesMax,
  })
  sent.once('response', resolve)
  // Without `interimAnswersMax`, a server could keep the process busy with interim responses until the timeout. No
  // other limit counts them, and they have no backpressure.
  let interim = 0
  for (const event of ['continue', 'information'])
    sent.on(event, () => {
      if (++interim > limits.interimAnswersMax) resolve({ kind: 'broken-answer' })
    })
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
  // The response emits an error event if the connection breaks after the headers. `readBody` notices such an error
  // itself. This listener does nothing, but an error event without a listener would end the process.
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
