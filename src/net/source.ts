// Requests to servers that the operator chose, such as the hub or a NuGet mirror. These requests may go to
// private addresses; the requests in net/fetch.ts may not.

import { reasonOf } from '../base/reason.ts'

/** The error when a server cannot be reached, refuses the request, or violates the protocol. */
export class SourceError extends Error {}

export type SourceRequest = {
  signal: AbortSignal
  headers?: Record<string, string>
  /** Advice for the operator. It is added to the error message if the status is 401 or 403. */
  signInHint?: string
}

export type Transfer = {
  body: AsyncIterable<Uint8Array>
  /** True if the body begins at the requested offset. False if the body begins at the start of the file. */
  resumed: boolean
  /** The size of the whole file in bytes. Null if the server does not name the size. */
  total: number | null
}

/**
 * Sends a GET request. Rejects with a SourceError if the server cannot be reached or the status is not 2xx.
 * If the signal is aborted, rejects with the reason of the signal.
 */
export async function get(
  address: string,
  { signal, headers = {}, signInHint }: SourceRequest,
): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(address, { signal, headers })
  } catch (error) {
    signal.throwIfAborted()
    throw new SourceError(`${address} cannot be reached (${reasonOf(error)})`)
  }
  if (answer.ok) return answer
  await answer.body?.cancel()
  const hint = signInHint && [401, 403].includes(answer.status) ? `; ${signInHint}` : ''
  throw new SourceError(`${address} answered ${answer.status}${hint}`)
}

/** Requests the bytes of a file from `offset` to the end of the file. */
export async function getFrom(
  address: string,
  offset: number,
  { headers, ...request }: SourceRequest,
): Promise<Transfer> {
  const range = offset > 0 ? { Range: `bytes=${offset}-` } : {}
  const answer = await get(address, { ...request, headers: { ...headers, ...range } })
  if (!answer.body) throw new SourceError(`${address} sent no bytes`)
  return { body: answer.body, resumed: answer.status === 206, total: totalOf(answer.headers) }
}

/** Sends JSON with a PUT request. Returns the JSON of the answer. Rejects as `get` does. */
export async function putJson(address: string, body: Uint8Array): Promise<unknown> {
  let answer: Response
  try {
    const headers = { 'Content-Type': 'application/json' }
    answer = await fetch(address, { method: 'PUT', headers, body })
  } catch (error) {
    throw new SourceError(`${address} cannot be reached (${reasonOf(error)})`)
  }
  if (!answer.ok) throw new SourceError(`${address} answered ${answer.status}`)
  return await answer.json()
}

function totalOf(headers: Headers): number | null {
  const [, total] = /^bytes \d+-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? []
  const text = total ?? headers.get('content-length')
  return text === null ? null : Number(text)
}
