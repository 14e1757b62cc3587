// Makes one delivery of a webhook, without retries. A failed delivery is returned as an `Outcome`. Only errors of this
// program are thrown.

import { limits } from '../limits.ts'
import { type FetchFailure, fetchGuarded, type Resolve } from '../net/fetch.ts'
import type { Nets } from '../net/nets.ts'
import { signedHeaders } from './sign.ts'

export const outcomes = [
  'delivered',
  'refused',
  'timeout',
  'skipped',
  'stopped',
  'unreachable',
  'forbidden-address',
  'broken',
] as const satisfies Outcome['kind'][]

export type Outcome =
  | { kind: 'delivered' | 'refused'; status: number }
  | { kind: 'timeout' }
  /** No request was sent, because the circuit breaker of the receiver is open. */
  | { kind: 'skipped' }
  /** The delivery was aborted by its `signal`. */
  | { kind: 'stopped' }
  | { kind: 'unreachable'; why: Exclude<FetchFailure['kind'], 'forbidden-address' | 'too-many-redirects'> }
  | { kind: 'forbidden-address' }
  /** The delivery failed because of an error in this program. */
  | { kind: 'broken' }

export type DeliveryOptions = {
  signingSecret: string
  nowMs: number
  timeoutMs: number
  allowNets: Nets
  resolve?: Resolve | undefined
  ca?: string | undefined
  signal?: AbortSignal | undefined
}

/**
 * Posts the body to `url`, and follows at most one redirect. `timeoutMs` is the timeout for the whole delivery. After
 * several deliveries in a row with the outcome `timeout`, a circuit breaker stops deliveries to this receiver for some
 * time. So the connection and the answer have no shorter timeouts: their outcome would be `unreachable`, which the
 * circuit breaker does not count.
 */
export async function deliver(
  url: string,
  body: string,
  { signingSecret, nowMs, timeoutMs, allowNets, resolve, ca, signal }: DeliveryOptions,
): Promise<Outcome> {
  const late = AbortSignal.timeout(timeoutMs)
  const stop = signal ? AbortSignal.any([signal, late]) : late
  try {
    const answer = await fetchGuarded(
      url,
      {
        method: 'POST',
        headers: signedHeaders(body, { signingSecret, nowMs }),
        body,
        redirectsMax: limits.webhookRedirectsMax,
      },
      { allowNets, resolve, ca, httpsOnly: true, connectTimeoutMs: timeoutMs, answerTimeoutMs: timeoutMs },
      stop,
    )
    if (answer.kind !== 'answer') return outcomeOf(answer)
    // Only the HTTP status is needed, so the body of the response is not read.
    answer.close()
    const delivered = answer.status >= 200 && answer.status < 300
    return { kind: delivered ? 'delivered' : 'refused', status: answer.status }
  } catch (error) {
    if (!stop.aborted) throw error
    return signal?.aborted ? { kind: 'stopped' } : { kind: 'timeout' }
  }
}

function outcomeOf(failure: FetchFailure): Outcome {
  if (failure.kind === 'forbidden-address') return { kind: 'forbidden-address' }
  if (failure.kind === 'too-many-redirects') return { kind: 'refused', status: failure.status }
  return { kind: 'unreachable', why: failure.kind }
}
