// Sends requests to the server. A request is repeated if the server does not answer. After the end of the session, it
// is repeated when the person has signed in again. A caller can switch off these repetitions.

import { words } from '../words.ts'
import { readClock } from './clock.ts'
import { isOnline, pause, signInAgain } from './connection.ts'
import { Fault, faultOf, isJson } from './fault.ts'
import { retryPauseMs } from './timing.ts'

type Options = {
  /** The parameters of the query in the URL. A parameter that is undefined or empty is left out. */
  query?: Record<string, string | number | undefined>
  body?: unknown
  /**
   * The ETag of the transcript that the page shows. If the server has another version, it refuses the request. Without
   * an ETag, the server does not compare.
   */
  ifMatch?: string | null
  signal?: AbortSignal
  /**
   * If true or missing, a request with the status 401 waits until the person has signed in again. If false, the status
   * 401 is an error.
   */
  waitsForSignIn?: boolean
  /** If true or missing, a request that the server does not answer is sent again. If false, such a request fails. */
  waitsForServer?: boolean
  keepalive?: boolean
  /** A key for the request. The server carries out requests with the same key only once. */
  idempotencyKey?: string
}

/** Sends a request, and returns the JSON of the response. Returns null if the response has no body. */
export async function ask<Answer>(method: string, path: string, options: Options = {}): Promise<Answer> {
  return (await askTagged<Answer>(method, path, options)).answer
}

/** Sends a request, and returns the JSON and the ETag of the response. */
export async function askTagged<Answer>(
  method: string,
  path: string,
  options: Options = {},
): Promise<{ answer: Answer; tag: string | null }> {
  const response = await request(method, withQuery(path, options.query ?? {}), options)
  if (!response.ok) throw await faultOf(response)
  const tag = response.headers.get('etag')
  if (response.status === 204) return { answer: null as Answer, tag }
  if (!isJson(response)) throw new Fault('NOT_JSON', words.faults.notJson, response.status)
  return { answer: (await response.json()) as Answer, tag }
}

/** Sends a GET request, and returns the text of the response. */
export async function askText(path: string, query: Options['query'] = {}): Promise<string> {
  const response = await request('GET', withQuery(path, query), {})
  if (!response.ok) throw await faultOf(response)
  return response.text()
}

export function withQuery(path: string, query: NonNullable<Options['query']>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))
  return given.length === 0 ? path : `${path}?${search}`
}

/**
 * Sends a request. If the server does not answer, or if the session has ended, waits and sends the request again. The
 * options `waitsForServer` and `waitsForSignIn` can switch off these repetitions.
 */
export async function request(method: string, path: string, options: Options = {}): Promise<Response> {
  for (;;) {
    const response = await send(method, path, options)
    if (response.status !== 401 || options.waitsForSignIn === false) return response
    await signInAgain()
  }
}

async function send(method: string, path: string, options: Options): Promise<Response> {
  const { body, keepalive = false, ifMatch, idempotencyKey } = options
  const init: RequestInit = {
    method,
    keepalive,
    credentials: 'same-origin',
    ...(options.signal ? { signal: options.signal } : {}),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(ifMatch ? { 'If-Match': ifMatch } : {}),
      ...(idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {}),
    },
  }
  for (let tries = 0; ; tries++) {
    try {
      const response = await fetch(path, init)
      if (!isGatewayFault(response.status)) {
        isOnline.value = true
        readClock(response)
        return response
      }
      if (options.waitsForServer === false) return response
    } catch (error) {
      if (options.signal?.aborted) throw error
      if (options.waitsForServer === false) throw new Fault('OFFLINE', words.faults.offline)
    }
    isOnline.value = false
    await pause(retryPauseMs(tries), options.signal)
  }
}

/**
 * Returns true if a request failed because the server does not answer or is busy. `fetch` then throws a TypeError, or
 * the server or a proxy sends the status 502, 503 or 504.
 */
export function isAway(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Fault && isGatewayFault(error.status))
}

function isGatewayFault(status: number): boolean {
  return [502, 503, 504].includes(status)
}
