// Requests to servers that the operator chose, such as the model hub or a NuGet mirror. Unlike in net/fetch.ts, private
// addresses are allowed.

import { reasonOf } from '../base/reason.ts'

/** The server cannot be reached, refuses the request, or violates its protocol. */
export class SourceError extends Error {}

export type SourceRequest = {
  signal: AbortSignal
  headers?: Record<string, string>
  /** Advice that is added to the error for status 401 or 403. */
  signInHint?: string
}

export type Transfer = {
  body: AsyncIterable<Uint8Array>
  /** True if the body begins at the requested offset, false if at the beginning of the file. */
  resumed: boolean
}

/** Rejects with a SourceError unless the status is 2xx, or with the reason of the signal. */
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

/** Requests the bytes of a file from an offset to the end. */
export async function getFrom(
  address: string,
  offset: number,
  { headers, ...request }: SourceRequest,
): Promise<Transfer> {
  const range = offset > 0 ? { Range: `bytes=${offset}-` } : {}
  const answer = await get(address, { ...request, headers: { ...headers, ...range } })
  if (!answer.body) throw new SourceError(`${address} sent no bytes`)
  return { body: answer.body, resumed: answer.status === 206 }
}
