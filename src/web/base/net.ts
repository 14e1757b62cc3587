// Sends requests to the server. If the server does not answer, the request is repeated. If the session has ended, the
// request waits until the person has signed in again, and is repeated then.

import { signal } from '@preact/signals'
import { words } from '../words.ts'
import { timing } from './timing.ts'

/** The error of a failed request. The message is a sentence that the page shows to the person. */
export class Fault extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status = 0,
    readonly retryAfterMs: number | null = null,
  ) {
    super(message)
  }
}

/** False while the server does not answer. */
export const isOnline = signal(true)
/** True while a request waits for a new sign-in. */
export const needsSignIn = signal(false)

let signedInAgain = Promise.withResolvers<void>()

/** Shows the sign-in dialog, and waits until the person has signed in again. */
export function signInAgain(): Promise<void> {
  needsSignIn.value = true
  return signedInAgain.promise
}

/** Repeats the requests that wait for a new sign-in. */
export function resumeRequests(): void {
  needsSignIn.value = false
  signedInAgain.resolve()
  signedInAgain = Promise.withResolvers<void>()
}

type Options = {
  /** The values of the query. Undefined values are left out. */
  query?: Record<string, string | number | undefined>
  body?: unknown
  /**
   * The ETag of the version of the transcript that the page shows. The server refuses the request if this is not its
   * present version.
   */
  ifMatch?: string | null
  signal?: AbortSignal
  /** If false, the status 401 is an error. By default, the request waits until the person has signed in again. */
  waitsForSignIn?: boolean
  /** If false, the request fails if the server does not answer. By default, it is repeated. */
  waitsForServer?: boolean
  keepalive?: boolean
  /** A key that stays the same when the request is repeated, so that the request has its effect only once. */
  idempotencyKey?: string
}

/** Sends a request and returns the JSON of the answer, or null for an answer without a body. */
export async function ask<Answer>(method: string, path: string, options: Options = {}): Promise<Answer> {
  return (await askTagged<Answer>(method, path, options)).answer
}

/** Sends a request like `ask`, and also returns the ETag of the answer. */
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
  return { answer: await response.json(), tag }
}

/** Sends a request and returns the text of the answer. */
export async function askText(path: string, query: Options['query'] = {}): Promise<string> {
  const response = await request('GET', withQuery(path, query), {})
  if (!response.ok) throw await faultOf(response)
  return response.text()
}

export function withQuery(path: string, query: NonNullable<Options['query']>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return given.length === 0 ? path : `${path}?${search}`
}

export async function faultOf(response: Response): Promise<Fault> {
  const retryAfter = Number(response.headers.get('retry-after')) * 1000 || null
  const body = isJson(response) ? await response.json().catch(() => null) : null
  const { code = 'NOT_JSON', message = words.faults.notJson } = body?.error ?? {}
  return new Fault(code, words.advice[code] ?? message, response.status, retryAfter)
}

export function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}

/** Sends a request, again and again until the server answers and the person is signed in. */
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
      if (![502, 503, 504].includes(response.status) || options.waitsForServer === false) {
        isOnline.value = true
        return response
      }
    } catch (error) {
      if (options.signal?.aborted) throw error
      if (options.waitsForServer === false) throw new Fault('OFFLINE', words.faults.offline)
    }
    isOnline.value = false
    await pause(Math.min(timing.retryMsMax, timing.retryMs * 2 ** tries), options.signal)
  }
}

/** Waits for `ms` milliseconds, or until the browser is online again, or until the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      removeEventListener('online', end)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    addEventListener('online', end)
    signal?.addEventListener('abort', end)
  })
}

function isJson(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('application/json') ?? false
}
