// Sends large responses. Only a limited number of large responses are in memory at the same time. Otherwise, clients
// that read slowly could fill the memory.

import { openSemaphore } from '../../base/semaphore.ts'
import { limits } from '../../limits.ts'
import type { RequestState } from '../gate/request-state.ts'

export type Written = { body: string | Uint8Array<ArrayBuffer>; headers: Record<string, string> }

type Sending = { accountId: string; startedAt: number; stop(): void }

export class LargeAnswers {
  readonly #slots
  readonly #heldMs: number
  /** The large responses that are in memory now, in the order in which they began. */
  readonly #sending = new Set<Sending>()

  constructor(slots: number = limits.largeAnswersMax, heldMs: number = limits.largeAnswerHeldMs) {
    this.#slots = openSemaphore(slots)
    this.#heldMs = heldMs
  }

  /**
   * Waits until the number of large responses in memory is below the limit. Then returns the response that `write`
   * makes. The response stays in memory until the client has read it, or until `signal` is aborted. If a client takes
   * longer than `heldMs` while other requests wait here, its connection may be closed.
   */
  send(accountId: string, signal: AbortSignal, write: () => Written | Promise<Written>): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    const timer = setInterval(() => this.#stopOne(), limits.largeAnswerCheckMs).unref()
    const begin = async () => {
      clearInterval(timer)
      const { body, headers } = await write()
      const { stream, sent, stop } = inParts(typeof body === 'string' ? Buffer.from(body) : body, signal)
      const sending = { accountId, startedAt: performance.now(), stop }
      this.#sending.add(sending)
      resolve(new Response(stream, { headers }))
      await sent
      this.#sending.delete(sending)
    }
    this.#slots
      .run(accountId, begin, signal)
      .catch(reject)
      .finally(() => clearInterval(timer))
    return promise
  }

  /**
   * Closes one connection, because another large response waits. Chooses the oldest response of the account with the
   * most large responses in memory. Closes its connection if the response began at least `heldMs` ago.
   */
  #stopOne(): void {
    const held = new Map<string, number>()
    for (const { accountId } of this.#sending) held.set(accountId, (held.get(accountId) ?? 0) + 1)
    const most = Math.max(...held.values())
    const oldest = [...this.#sending].find(({ accountId }) => held.get(accountId) === most)
    if (oldest && performance.now() - oldest.startedAt >= this.#heldMs) oldest.stop()
  }
}

const largeAnswers = new LargeAnswers()

export const sendLarge = largeAnswers.send.bind(largeAnswers)

type Asked = { request: Request; requestState: RequestState; caller: { accountId: string } }

/**
 * Returns the result of `make` as a JSON response. Whether the response is large is known only after `make` was called.
 * A large response is first discarded, because too many large responses may be in memory. `make` is called again when
 * their number is below the limit.
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

/**
 * Returns a stream of the bytes. `sent` resolves when the client has read the stream or has disconnected. `stop` makes
 * the stream fail, which closes the connection.
 */
function inParts(bytes: Uint8Array, signal: AbortSignal) {
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  let from = 0
  let fail = (_: Error) => {}
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      fail = error => controller.error(error)
    },
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
  const stop = () => {
    fail(new Error('the client reads too slowly'))
    resolve()
  }
  return { stream, sent, stop }
}
