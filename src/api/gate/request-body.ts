// Reads the body of a request into its `RequestState`, and stores the reply to a request with an Idempotency-Key.

import { limits } from '../../limits.ts'
import type { Service } from '../service.ts'
import { checkBodyHeaders, parseBody, readBody } from './body.ts'
import { claimKey, findReply, freeKey, readIdempotencyKey, saveReply } from './idempotency.ts'
import type { RequestState } from './request-state.ts'

/**
 * Thrown for a request that repeats an earlier request with the same Idempotency-Key. The handler of the route is then
 * not called, and error-answer.ts sends `reply`, which is the stored reply to the earlier request.
 */
export class Replay {
  constructor(readonly reply: string) {}
}

export async function takeBody(
  request: Request,
  requestState: RequestState,
  bytesMax: number = limits.bodyBytesMax,
): Promise<object> {
  checkBodyHeaders(request, { bytesMax })
  requestState.rawBody = await readBody(request, bytesMax)
  requestState.recheck()
  return parseBody(requestState.rawBody)
}

/**
 * Reads the body of a request that may have an Idempotency-Key. Locks the key first. Throws a Replay if the reply to
 * the same request is already stored.
 */
export async function takeIdempotentBody(
  { db, config }: Service,
  request: Request,
  requestState: RequestState,
  endpoint: string,
): Promise<object> {
  const { caller } = requestState
  checkBodyHeaders(request)
  const key = readIdempotencyKey(request.headers.get('idempotency-key'))
  if (key === null || !caller) return takeBody(request, requestState)
  const claim = { accountId: caller.accountId, endpoint, key }
  claimKey(claim)
  requestState.claim = claim
  requestState.rawBody = await readBody(request)
  requestState.recheck()
  const reply = findReply(db, claim, requestState.rawBody, { ttlMs: config.idempotencyTtlMs })
  if (reply !== null) throw new Replay(reply)
  return parseBody(requestState.rawBody)
}

/**
 * Calls `work`, and makes the reply from its result. If the request has an Idempotency-Key, stores the reply in the
 * same transaction as the changes of `work`.
 */
export function once<Made extends object>(
  { db }: Service,
  state: RequestState,
  work: () => Made,
  answerOf: (made: Made) => object = made => made,
): { made: Made; reply: Response } {
  const { claim, rawBody } = state
  const { made, json } = db.tx(() => {
    const made = work()
    const json = JSON.stringify(answerOf(made))
    if (claim) saveReply(db, claim, rawBody, json)
    return { made, json }
  })
  if (claim) freeKey(claim)
  state.claim = null
  return { made, reply: new Response(json, { headers: { 'Content-Type': 'application/json' } }) }
}
