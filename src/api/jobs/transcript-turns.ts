// Lets requests take turns in reading and editing transcripts. The transcript of ten hours of speech has 10 MB as JSON.
// To read it takes 20 ms, its export takes 0.1 s, and an edit of many utterances longer.

import { nextTurn } from '../../base/next-turn.ts'
import { openSemaphore } from '../../base/semaphore.ts'
import { limits } from '../../limits.ts'

const working = openSemaphore(1)
const sending = openSemaphore(limits.largeAnswersMax)

/**
 * Calls `work`, which reads or edits a transcript, and returns its result. Only one call runs at a time, and the
 * accounts take turns. The server handles other events between two calls.
 */
export function inTurn<T>(accountId: string, work: () => T | Promise<T>): Promise<T> {
  return working.run(accountId, async () => {
    await nextTurn()
    return work()
  })
}

export type Written = { body: string; headers: Record<string, string> }

/**
 * Returns the response that `write` makes of a transcript when it is the turn of the account. If `isLarge` is true, first
 * waits for one of `largeAnswersMax` slots. The response holds the slot until the client has read it, or until `signal`
 * is aborted. Otherwise, clients that read slowly could fill the memory.
 */
export async function answerInTurn(
  accountId: string,
  { isLarge, signal }: { isLarge: boolean; signal: AbortSignal },
  write: () => Written | Promise<Written>,
): Promise<Response> {
  const written = () => inTurn(accountId, write)
  if (!isLarge) {
    const { body, headers } = await written()
    return new Response(body, { headers })
  }
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const send = async () => {
    const { body, headers } = await written()
    const { stream, sent } = inParts(Buffer.from(body), signal)
    resolve(new Response(stream, { headers }))
    await sent
  }
  sending.run(accountId, send, signal).catch(reject)
  return promise
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
