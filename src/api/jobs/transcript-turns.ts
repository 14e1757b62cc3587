// Lets requests read and edit transcripts one after the other, each in its own turn of the event loop. Work on a long
// transcript blocks the event loop. Between two such requests, the server handles other events. The transcript of ten
// hours of speech has 10 MB as JSON. Reading this transcript takes 20 ms, its export takes 0.1 s, and an edit of many
// utterances takes longer.

import { nextTurn } from '../../base/next-turn.ts'
import { openSemaphore } from '../../base/semaphore.ts'
import { sendLarge, type Written } from './large-answers.ts'

const working = openSemaphore(1)

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

/**
 * Waits for the turn of the account (see `inTurn`), and returns the response that `write` then makes. If `isLarge` is
 * true, first waits until fewer large responses are in memory (see `sendLarge`).
 */
export async function answerInTurn(
  accountId: string,
  { isLarge, signal }: { isLarge: boolean; signal: AbortSignal },
  write: () => Written | Promise<Written>,
): Promise<Response> {
  const written = () => inTurn(accountId, write)
  if (isLarge) return sendLarge(accountId, signal, written)
  const { body, headers } = await written()
  return new Response(body, { headers })
}
