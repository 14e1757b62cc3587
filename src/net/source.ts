// Sends requests to servers that the operator chose, such as the model hub (Hugging Face) or a NuGet mirror. The
// addresses of these servers are not checked. URLs that callers send need net/fetch.ts, which checks the address.

import { reasonOf } from '../base/reason.ts'
import { withoutPassword } from '../base/visible.ts'

/**
 * The error when a server cannot be reached, refuses a request, or violates the protocol. `status` is the status of an
 * error response, or null if there was no such response.
 */
export class SourceError extends Error {
  constructor(
    message: string,
    readonly status: number | null = null,
  ) {
    super(message)
  }
}

export type SourceRequest = {
  signal: AbortSignal
  headers?: Record<string, string>
  /**
   * A hint for the operator, for example that a token may be missing. The error message includes this hint after the
   * status 401 or 403.
   */
  signInHint?: string
  /** A hint for the operator that is added to the error message if the server cannot be reached. */
  unreachableHint?: string
}

export type Transfer = {
  body: AsyncIterable<Uint8Array>
  /** True if the body of the response begins at the requested offset. False if it begins at the start of the file. */
  resumed: boolean
  /** The size of the whole file in bytes. Null if the server does not say the size. */
  total: number | null
}

/**
 * Sends a GET request, and returns the response. Rejects with a SourceError if the server cannot be reached or the
 * status is not 2xx. Rejects with the reason of the signal if the signal is aborted.
 */
export async function get(address: string, { headers = {}, ...request }: SourceRequest): Promise<Response> {
  return await send(address, { headers }, request)
}

async function send(
  address: string,
  init: RequestInit,
  { signal, signInHint, unreachableHint }: Omit<SourceRequest, 'headers'>,
): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(address, { ...init, signal })
  } catch (error) {
    signal.throwIfAborted()
    const hint = unreachableHint ? `; ${unreachableHint}` : ''
    throw new SourceError(`${shown(address)} cannot be reached (${reasonOf(error)})${hint}`)
  }
  if (answer.ok) return answer
  await answer.body?.cancel()
  const hint = signInHint && [401, 403].includes(answer.status) ? `; ${signInHint}` : ''
  throw new SourceError(`${shown(address)} answered ${answer.status}${hint}`, answer.status)
}

/** Requests the bytes of a file from the byte `offset` to the end of the file. */
export async function getFrom(
  address: string,
  offset: number,
  { headers, ...request }: SourceRequest,
): Promise<Transfer> {
  const range = offset > 0 ? { Range: `bytes=${offset}-` } : {}
  const answer = await get(address, { ...request, headers: { ...headers, ...range } })
  if (!answer.body) throw new SourceError(`${shown(address)} sent no bytes`)
  return { body: answer.body, resumed: answer.status === 206, total: totalOf(answer) }
}

/**
 * Sends JSON by a PUT request, and returns the JSON of the response. Rejects if the server cannot be reached, the
 * status is not 2xx, or the response is not JSON. Also rejects if the signal is aborted.
 */
export async function putJson(
  address: string,
  body: Uint8Array,
  { signal }: Pick<SourceRequest, 'signal'>,
): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await send(address, { method: 'PUT', headers, body }, { signal })
  return await answer.json()
}

/**
 * Sends a GET request, and returns the JSON of the response. Rejects with a SourceError if the server cannot be reached,
 * the status is not 2xx, or the response is not JSON. Rejects with the reason of the signal if the signal is aborted.
 */
export async function getJson(address: string, request: SourceRequest): Promise<unknown> {
  const answer = await get(address, request)
  try {
    return await answer.json()
  } catch (error) {
    request.signal.throwIfAborted()
    throw new SourceError(`${shown(address)} did not answer with JSON (${reasonOf(error)})`)
  }
}

/** Returns true if a value in the JSON of a server is a size in bytes. */
export function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/**
 * Returns an address without its query and without a password, for error messages. The query of an address for workers
 * has a signature, which must not be in the log.
 */
function shown(address: string): string {
  return withoutPassword(address.replace(/\?.*/s, ''))
}

/**
 * Returns the size of the whole file, or null if it is unknown. With the status 206, the Content-Length is only the
 * size of a part.
 */
function totalOf({ status, headers }: Response): number | null {
  const [, total] = /^bytes \d+-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? []
  const text = total ?? (status === 206 ? null : headers.get('content-length'))
  return text === null ? null : Number(text)
}
