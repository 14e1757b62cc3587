// Admits a request: checks the quota of the IP address, then the credential, then the quota of the caller.

import type { RateName } from '../../limits.ts'
import type { Service } from '../service.ts'
import type { authenticate } from './credential.ts'
import { quotaHeaders, refusal } from './quota-answer.ts'
import type { RequestState } from './request-state.ts'

/**
 * The fields of Elysia's context that the hooks use. Each hook must destructure its parameter, because Elysia reads the
 * names of the used fields from the source code of the hook. Otherwise, Elysia also parses the cookies and headers of
 * every request.
 */
export type GateContext = {
  request: Request
  set: { headers: Record<string, string | number> }
  requestState: RequestState
}

/** Counts a request in the quota of its IP address. Throws if the quota is exceeded. */
export function admitAddress({ rateLimiter }: Service, state: RequestState): void {
  const perIp = rateLimiter.take('ip', state.network)
  if (perIp && !perIp.allowed) throw refusal(perIp)
  state.isCounted = true
}

/**
 * Checks the quotas and the credential. `authenticated` is the function that checks the credential, or null for a route
 * without a credential. Throws if the request is refused. A request above a quota is not counted.
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
  // Without this header, a shared cache may store the response: X-Api-Key and cookies do not forbid it (RFC 9111).
  if (authenticated) set.headers['Cache-Control'] = 'no-store'
  const at = service.db.now()
  requestState.recheck = () => void authenticated?.(service, request, at)
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
