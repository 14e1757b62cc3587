// The checks before the handler of a route: the quota of the IP address, the credential, the quota of the caller, the
// body, and the Idempotency-Key, in this order. A route chooses its checks by one macro of this file, such as `open` or
// `account`. The value of the macro is the name of the route's quota, or `true` if the route has no quota of its own.

import { Elysia } from 'elysia'
import type { RequestErrorCode } from '../errors.ts'
import { limits, type RateName } from '../limits.ts'
import { checkBodyHeaders, parseBody, readBody } from './body.ts'
import { authenticate, authenticateAssistant, authenticateSession, type Caller } from './credential.ts'
import { type Claim, claimKey, findReply, freeKey, readIdempotencyKey, saveReply } from './idempotency.ts'
import { quotaHeaders, refusal } from './quota-answer.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'

/** The state of one request, from its start to its response. app.ts creates it. */
export type RequestState = {
  requestId: string
  startedAt: number
  ip: string
  /**
   * The IP address of the caller, or its /64 network for IPv6. The rate limits count a request without a credential
   * under this name.
   */
  network: string
  /** The caller of the request. Null for a route without a credential, and before the credential is checked. */
  caller: Caller | null
  /** The Idempotency-Key that this request has locked. Null if there is none. */
  claim: Claim | null
  rawBody: Uint8Array
  /** The fields of an HTML form in the body. Empty for a request without a form. */
  form: URLSearchParams
}

/**
 * The part of Elysia's context that the hooks use. Elysia reads the source code of each hook to find which fields of
 * the context the hook uses. Each hook therefore destructures its parameter, which names these fields. Without the
 * names, Elysia would also parse the cookies and the headers of every request.
 */
type GateContext = {
  request: Request
  set: { headers: Record<string, string | number> }
  requestState: RequestState
}

/** The state of a request before any check. */
export const emptyState: RequestState = {
  requestId: '',
  startedAt: 0,
  ip: '',
  network: '',
  caller: null,
  claim: null,
  rawBody: new Uint8Array(),
  form: new URLSearchParams(),
}

/** An exception that skips the handler of a repeated request. app.ts catches it and answers with the stored reply. */
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
const authErrors: RequestErrorCode[] = [
  'INVALID_API_KEY',
  'API_KEY_REVOKED',
  'INVALID_TOKEN',
  'SESSION_ENDED',
  'INSUFFICIENT_SCOPE',
]
const bodyErrors: RequestErrorCode[] = ['INVALID_REQUEST', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']
const idempotencyErrors: RequestErrorCode[] = ['IDEMPOTENCY_KEY_LOCKED', 'IDEMPOTENCY_KEY_CONFLICT']

export const gate = (service: Service) => {
  function admitAddress({ network }: RequestState): void {
    const perIp = service.rateLimiter.take('ip', network)
    if (perIp && !perIp.allowed) throw refusal(perIp)
  }

  /**
   * Checks the quotas, and calls `authenticated` to check the credential. Throws if the request is refused. A request
   * above a quota is not counted. `authenticated` is null for a route without a credential.
   */
  function admit(
    { request, set, requestState }: GateContext,
    rate: RateName,
    authenticated: typeof authenticate | null,
  ): void {
    const { rateLimiter } = service
    Object.assign(set.headers, quotaHeaders(rateLimiter, rate))
    admitAddress(requestState)
    requestState.caller = authenticated?.(service, request) ?? null
    const { caller, network } = requestState
    const quota = rateLimiter.take(rate, caller?.countedAs ?? network)
    if (!quota) return
    Object.assign(
      set.headers,
      quotaHeaders(rateLimiter, rate, { quota, now: service.db.now(), keyed: caller !== null }),
    )
    if (quota.allowed) return
    rateLimiter.giveBack('ip', network)
    throw refusal(quota)
  }

  async function takeBody(request: Request, requestState: RequestState, bytesMax?: number): Promise<object> {
    checkBodyHeaders(request, bytesMax === undefined ? {} : { bytesMax })
    requestState.rawBody = await readBody(request, bytesMax)
    return parseBody(requestState.rawBody)
  }

  /**
   * Reads the body of a request that may have an Idempotency-Key. The key is locked before the body is read. If the
   * reply to the same request is already stored, throws a Replay.
   */
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

  /**
   * Calls `work`, and stores its result as the reply for the Idempotency-Key. The changes of `work` and the reply are
   * stored in the same transaction.
   */
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
    /**
     * The checks of a route without a credential and without a quota of its own. Only the quota of the IP address
     * applies.
     */
    visitor: (_: true) => ({
      detail: about({ errors: commonErrors }),
      transform: ({ set, requestState }: GateContext) => {
        Object.assign(set.headers, quotaHeaders(service.rateLimiter, null))
        admitAddress(requestState)
      },
    }),
    /**
     * The checks of a route without a credential. Requests are counted per IP address, in the quota that `rate` names.
     */
    open: (rate: RateName) => ({
      detail: about({ rate, errors: commonErrors }),
      transform: ({ request, set, requestState }: GateContext) =>
        admit({ request, set, requestState }, rate, null),
    }),
    /**
     * The checks of a route without a credential and with a JSON body. Requests are counted per IP address, in the
     * quota that `rate` names.
     */
    openBody: (rate: RateName) => ({
      detail: about({ rate, errors: [...commonErrors, ...bodyErrors] }),
      parse: ({ request, set, requestState }: GateContext) => {
        admit({ request, set, requestState }, rate, null)
        return takeBody(request, requestState)
      },
    }),
    /**
     * The checks of a route without a credential and with an HTML form. Requests are counted per IP address, in the
     * quota that `rate` names.
     */
    openForm: (rate: RateName) => ({
      detail: about({ rate, errors: [...commonErrors, ...bodyErrors], hide: true }),
      parse: async ({ request, set, requestState }: GateContext) => {
        admit({ request, set, requestState }, rate, null)
        checkBodyHeaders(request, { type: 'application/x-www-form-urlencoded' })
        const bytes = await readBody(request)
        requestState.form = new URLSearchParams(new TextDecoder().decode(bytes))
        return {}
      },
      resolve: ({ requestState }: GateContext) => ({ form: requestState.form }),
    }),
    /**
     * The checks of a route that needs a credential. Requests are counted per caller, in the quota that `rate` names.
     */
    account: (rate: RateName) => ({
      detail: about({ rate, keyed: true, errors: [...commonErrors, ...authErrors] }),
      transform: ({ request, set, requestState }: GateContext) =>
        admit({ request, set, requestState }, rate, authenticate),
      resolve: ({ requestState }: GateContext) => ({ caller: callerOf(requestState) }),
    }),
    /**
     * The checks of a route that needs a credential and has a JSON body. Requests are counted per caller, in the quota
     * that `rate` names.
     */
    edit: (rate: RateName) => ({
      detail: about({ rate, keyed: true, errors: [...commonErrors, ...authErrors, ...bodyErrors] }),
      parse: ({ request, set, requestState }: GateContext) => {
        admit({ request, set, requestState }, rate, authenticate)
        return takeBody(request, requestState, limits.editBytesMax)
      },
      resolve: ({ requestState }: GateContext) => ({ caller: callerOf(requestState) }),
    }),
    /**
     * The checks of a route that transfers a file and needs a credential. A request with a valid credential counts in
     * no quota, because the upload of a large file needs many requests. Any other request counts in the quota of its IP
     * address.
     */
    transfer: (_: true) => ({
      detail: about({ keyed: true, errors: [...commonErrors, ...authErrors] }),
      transform: ({ request, set, requestState }: GateContext) => {
        Object.assign(set.headers, quotaHeaders(service.rateLimiter, null))
        try {
          requestState.caller = authenticate(service, request)
        } catch (error) {
          admitAddress(requestState)
          throw error
        }
      },
      resolve: ({ requestState }: GateContext) => ({ caller: callerOf(requestState) }),
    }),
    /**
     * The checks of a route that needs the cookie of a sign-in session. Requests are counted per account, in the quota
     * that `rate` names.
     */
    session: (rate: RateName) => ({
      detail: about({ rate, keyed: true, errors: [...commonErrors, 'SESSION_ENDED'], hide: true }),
      transform: ({ request, set, requestState }: GateContext) =>
        admit({ request, set, requestState }, rate, authenticateSession),
      resolve: ({ requestState }: GateContext) => ({ caller: callerOf(requestState) }),
    }),
    /**
     * The checks of a route that needs the cookie of a sign-in session and has a JSON body. Requests are counted per
     * account, in the quota that `rate` names.
     */
    sessionBody: (rate: RateName) => ({
      detail: about({
        rate,
        keyed: true,
        errors: [...commonErrors, ...bodyErrors, 'SESSION_ENDED'],
        hide: true,
      }),
      parse: ({ request, set, requestState }: GateContext) => {
        admit({ request, set, requestState }, rate, authenticateSession)
        return takeBody(request, requestState)
      },
      resolve: ({ requestState }: GateContext) => ({ caller: callerOf(requestState) }),
    }),
    /**
     * The checks of the MCP endpoint, which reads its body itself. Requests are counted per caller, in the quota that
     * `rate` names.
     */
    assistant: (rate: RateName) => ({
      detail: about({ rate, keyed: true, errors: [...commonErrors, ...authErrors], hide: true }),
      transform: ({ request, set, requestState }: GateContext) =>
        admit({ request, set, requestState }, rate, authenticateAssistant),
      resolve: ({ requestState }: GateContext) => ({ caller: callerOf(requestState) }),
    }),
    /**
     * The checks of a route that needs a credential and a JSON body, and whose requests may have an Idempotency-Key.
     * Requests are counted per caller, in the quota that `rate` names.
     */
    submit: (rate: RateName) => ({
      detail: about({
        rate,
        keyed: true,
        idempotent: true,
        errors: [...commonErrors, ...authErrors, ...bodyErrors, ...idempotencyErrors],
      }),
      parse: ({ request, set, requestState }: GateContext) => {
        admit({ request, set, requestState }, rate, authenticate)
        return takeIdempotentBody(request, requestState, rate)
      },
      resolve: ({ requestState }: GateContext) => ({
        caller: callerOf(requestState),
        once: <Made extends object>(work: () => Made) => once(requestState, work),
      }),
    }),
  })
}

function callerOf({ caller }: RequestState): Caller {
  if (!caller) throw new Error('the request was not authenticated')
  return caller
}
