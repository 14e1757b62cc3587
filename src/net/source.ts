// Requests to servers that the operator chose, such as the model hub or a mirror of NuGet. They may have private
// addresses, unlike those that net/fetch.ts asks.

import { reasonOf } from '../base/reason.ts'

/** The server cannot be reached, refuses, or sends something else than its protocol has. */
export class SourceError extends Error {}

export type SourceRequest = {
  signal: AbortSignal
  headers?: Record<string, string>
  /** Advice for an answer that says the sign-in is missing or not enough. */
  signInHint?: string
}

export type Transfer = {
  body: AsyncIterable<Uint8Array>
  /** The body begins at the offset that was asked for, not at the beginning of the file. */
  resumed: boolean
}

/** Rejects with a SourceError unless the status is a success, or with the signal's reason. */
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

/** The bytes of a file from an offset on. */
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
