// The checks before a handler runs, in the order of the contract: quota of the address, key, quota of the key, body,
// idempotency. A route selects its checks with one word, and names its quota.

import { Elysia } from 'elysia'
import { findKey } from '../accounts/key.ts'
import { ApiError, type RequestErrorCode } from '../errors.ts'
import type { RateName } from '../limits.ts'
import { checkBodyHeaders, parseBody, readBody } from './body.ts'
import { type Claim, claimKey, findReply, freeKey, readIdempotencyKey, saveReply } from './idempotency.ts'
import { quotaHeaders, refusal } from './rate-limit.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'

type Caller = {
  accountId: string
  keyId: string
}

/** The state of one request. app.ts creates one for each request. */
export type RequestState = {
  requestId: string
  startedAt: number
  ip: string
  /** Whose quota the request counts to while it has no key. */
  network: string
  caller: Caller | null
  claim: Claim | null
  rawBody: Uint8Array
}

/**
 * The part of Elysia's context that the hooks use. Each hook destructures it in its parameters. Elysia analyses the
 * parameters: for a hook that takes the whole context it would compute cookies, headers and more.
 */
type GateContext = {
  request: Request
  set: { headers: Record<string, string | number> }
  requestState: RequestState
}

/** The state before any check. */
export const emptyState: RequestState = {
  requestId: '',
  startedAt: 0,
  ip: '',
  network: '',
  caller: null,
  claim: null,
  rawBody: new Uint8Array(),
}

/** Thrown to send a stored reply again without running the handler. */
export class Replay {
  constructor(readonly reply: string) {}
}

const commonErrors: RequestErrorCode[] = [
  'FORBIDDEN',
  'RATE_LIMIT_EXCEEDED',
  'METHOD_NOT_ALLOWED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
]
const authErrors: RequestErrorCode[] = ['INVALID_API_KEY', 'API_KEY_REVOKED']
const bodyErrors: RequestErrorCode[] = ['INVALID_REQUEST', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']
const idempotencyErrors: RequestErrorCode[] = ['IDEMPOTENCY_KEY_LOCKED', 'IDEMPOTENCY_KEY_CONFLICT']

export const gate = (service: Service) => {
  function admitAddress({ network }: RequestState): void {
    const perIp = service.rateLimiter.take('ip', network)
    if (perIp && !perIp.allowed) throw refusal(perIp)
  }

  /** Counts the request and checks the key. A refused request counts towards no quota. */
  function admit(
    { request, set, requestState }: GateContext,
    rate: RateName,
    { needsKey }: { needsKey: boolean },
  ): void {
    const { rateLimiter } = service
    Object.assign(set.headers, quotaHeaders(rateLimiter, rate))
    admitAddress(requestState)
    requestState.caller = needsKey ? authenticate(service, request) : null
    const quota = rateLimiter.take(rate, requestState.caller?.keyId ?? requestState.network)
    if (!quota) return
    Object.assign(
      set.headers,
      quotaHeaders(rateLimiter, rate, { quota, now: service.db.now(), keyed: needsKey }),
    )
    if (quota.allowed) return
    rateLimiter.giveBack('ip', requestState.network)
    throw refusal(quota)
  }

  async function takeBody(request: Request, requestState: RequestState): Promise<object> {
    checkBodyHeaders(request)
    requestState.rawBody = await readBody(request)
    return parseBody(requestState.rawBody)
  }

  /** Claims the Idempotency-Key before the body is read: the key is locked from the first byte of the request. */
  async function takeIdempotentBody(
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
    const reply = findReply(service.db, claim, requestState.rawBody, {
      ttlMs: service.config.idempotencyTtlMs,
    })
    if (reply !== null) throw new Replay(reply)
    return parseBody(requestState.rawBody)
  }

  /** Does the work and stores its reply under the Idempotency-Key, in one transaction. */
  function once<Made extends object>(state: RequestState, work: () => Made): { made: Made; reply: Response } {
    const { claim, rawBody } = state
    const { made, json } = service.db.tx(() => {
      const made = work()
      const json = JSON.stringify(made)
      if (claim) saveReply(service.db, claim, rawBody, json)
      return { made, json }
    })
    if (claim) freeKey(claim)
    state.claim = null
    return { made, reply: new Response(json, { headers: { 'Content-Type': 'application/json' } }) }
  }

  return new Elysia({ name: 'gate' }).decorate('requestState', emptyState).macro({
    /** Needs no key. Only the quota of the address applies. */
    visitor: (_: true) => ({
      detail: about({ errors: commonErrors }),
      transform: ({ set, requestState }: GateContext) => {
        Object.assign(set.headers, quotaHeaders(service.rateLimiter, null))
        admitAddress(requestState)
      },
    }),
    /** Needs no key. The quota of the endpoint is counted per address. */
    open: (rate: RateName) => ({
      detail: about({ rate, errors: commonErrors }),
      transform: ({ request, set, requestState }: GateContext) =>
        admit({ request, set, requestState }, rate, { needsKey: false }),
    }),
    /** Needs no key, and has a JSON body. The quota of the endpoint is counted per address. */
    openBody: (rate: RateName) => ({
      detail: about({ rate, errors: [...commonErrors, ...bodyErrors] }),
      parse: ({ request, set, requestState }: GateContext) => {
        admit({ request, set, requestState }, rate, { needsKey: false })
        return takeBody(request, requestState)
      },
    }),
    /** Needs an API key. */
    account: (rate: RateName) => ({
      detail: about({ rate, keyed: true, errors: [...commonErrors, ...authErrors] }),
      transform: ({ request, set, requestState }: GateContext) =>
        admit({ request, set, requestState }, rate, { needsKey: true }),
      resolve: ({ requestState }: GateContext) => ({ caller: callerOf(requestState) }),
    }),
    /** Needs an API key and a JSON body. An Idempotency-Key is optional. */
    submit: (rate: RateName) => ({
      detail: about({
        rate,
        keyed: true,
        idempotent: true,
        errors: [...commonErrors, ...authErrors, ...bodyErrors, ...idempotencyErrors],
      }),
      parse: ({ request, set, requestState }: GateContext) => {
        admit({ request, set, requestState }, rate, { needsKey: true })
        return takeIdempotentBody(request, requestState, rate)
      },
      resolve: ({ requestState }: GateContext) => ({
        caller: callerOf(requestState),
        once: <Made extends object>(work: () => Made) => once(requestState, work),
      }),
    }),
  })
}

function authenticate({ db, baseUrl }: Service, request: Request): Caller {
  const key = findKey(db, readKey(request.headers))
  const challenge = {
    'WWW-Authenticate': `Bearer resource_metadata="${baseUrl(request)}/.well-known/oauth-protected-resource"`,
  }
  if (!key) throw new ApiError('INVALID_API_KEY', undefined, challenge)
  if (key.revokedAt !== null) throw new ApiError('API_KEY_REVOKED', undefined, challenge)
  return { accountId: key.accountId, keyId: key.id }
}

function callerOf({ caller }: RequestState): Caller {
  if (!caller) throw new Error('the request was not authenticated')
  return caller
}

function readKey(headers: Headers): string {
  const authorization = headers.get('authorization')
  if (authorization === null) return headers.get('x-api-key')?.trim() ?? ''
  return authorization.replace(/^Bearer\s+/i, '').trim()
}
