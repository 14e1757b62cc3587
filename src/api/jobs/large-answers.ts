// Sends large responses. Only some of them are in memory at the same time. Otherwise, clients that read slowly could fill
// the memory.

import { openSemaphore } from '../../base/semaphore.ts'
import { limits } from '../../limits.ts'
import type { RequestState } from '../gate/request-state.ts'

const sending = openSemaphore(limits.largeAnswersMax)

export type Written = { body: string; headers: Record<string, string> }

/**
 * Waits for one of `largeAnswersMax` slots, and then returns the response that `write` makes. The response holds the slot
 * until the client has read it, or until `signal` is aborted.
 */
export function sendLarge(
  accountId: string,
  signal: AbortSignal,
  write: () => Written | Promise<Written>,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const send = async () => {
    const { body, headers } = await write()
    const { stream, sent } = inParts(Buffer.from(body), signal)
    resolve(new Response(stream, { headers }))
    await sent
  }
  sending.run(accountId, send, signal).catch(reject)
  return promise
}

type Asked = { request: Request; requestState: RequestState; caller: { accountId: string } }

/**
 * Returns the result of `make` as a JSON response. Only the result shows whether the response is large. A large one is
 * discarded, and made again when it has a slot.
 */
export async function answerJson(
  { request: { signal }, requestState, caller: { accountId } }: Asked,
  make: () => object,
): Promise<Response> {
  const written = (): Written => ({
    body: JSON.stringify(make()),
    headers: { 'Content-Type': 'application/json' },
  })
  const { body, headers } = written()
  if (body.length <= limits.largePageCharacters) return new Response(body, { headers })
  return await sendLarge(accountId, signal, () => {
    requestState.recheck()
    return written()
  })
}

/** Returns a stream of the bytes. `sent` resolves when the client has read the stream or has disconnected. */
function inParts(bytes: Uint8Array, signal: AbortSignal) {
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  let from = 0
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const end = from + limits.answerPartBytes
      controller.enqueue(bytes.subarray(from, end))
      from = end
      if (end < bytes.length) return
      controller.close()
      resolve()
    },
    cancel: () => resolve(),
  })
  signal.addEventListener('abort', () => resolve(), { once: true })
  if (signal.aborted) resolve()
  return { stream, sent }
}
