// Admits a request to a route: checks the quota of the IP address, the credential, and the quota of the caller, in this
// order.

import type { RateName } from '../../limits.ts'
import type { Service } from '../service.ts'
import type { authenticate } from './credential.ts'
import { quotaHeaders, refusal } from './quota-answer.ts'
import type { RequestState } from './request-state.ts'

/**
 * The part of Elysia's context that the hooks use. Elysia reads the source code of each hook to find which fields of
 * the context the hook uses. Each hook therefore destructures its parameter, so that its source code contains the names
 * of these fields. Otherwise, Elysia would also parse the cookies and the headers of every request.
 */
export type GateContext = {
  request: Request
  set: { headers: Record<string, string | number> }
  requestState: RequestState
}

/** Counts a request in the quota of its IP address. Throws if the request exceeds this quota. */
export function admitAddress({ rateLimiter }: Service, state: RequestState): void {
  const perIp = rateLimiter.take('ip', state.network)
  if (perIp && !perIp.allowed) throw refusal(perIp)
  state.isCounted = true
}

/**
 * Checks the quotas, and calls `authenticated` to check the credential. Throws if the request is refused. A request
 * above a quota is not counted. `authenticated` is null for a route without a credential.
 */
export function admit(
  service: Service,
  { request, set, requestState }: GateContext,
  rate: RateName,
  authenticated: typeof authenticate | null,
): void {
  const { rateLimiter } = service
  Object.assign(set.headers, quotaHeaders(rateLimiter, rate))
  admitAddress(service, requestState)
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
