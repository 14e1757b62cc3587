// Protects requests with a cookie against cross-site request forgery.

import { ApiError } from '../errors.ts'
import type { Service } from './service.ts'

/** Returns true if the method of a request changes nothing. */
export function isSafe({ method }: Request): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method)
}

/**
 * Throws unless a page of this service sent the request. A browser names the sender in the header
 * Sec-Fetch-Site, and an older browser in Origin. A request without both headers is refused. A request with a
 * safe method is always accepted.
 */
export function requireOwnOrigin(service: Service, request: Request): void {
  if (isSafe(request) || senderOf(service, request) === 'own') return
  throw foreign()
}

/**
 * Throws if a page of another site sent the request. A request of a program other than a browser is accepted.
 */
export function refuseForeignOrigin(service: Service, request: Request): void {
  if (senderOf(service, request) === 'foreign') throw foreign()
}

function senderOf({ baseUrl }: Service, request: Request): 'own' | 'foreign' | 'unknown' {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin' ? 'own' : 'foreign'
  const origin = request.headers.get('origin')
  if (origin === null) return 'unknown'
  // A service with one base URL may have several addresses, for example 127.0.0.1 and localhost. Therefore an
  // Origin that equals the Host header is also accepted.
  const host = URL.parse(origin)?.host
  const isOwn = origin === new URL(baseUrl(request)).origin || host === request.headers.get('host')
  return isOwn ? 'own' : 'foreign'
}

function foreign(): ApiError {
  return new ApiError('FORBIDDEN', 'A session accepts this request only from a page of this service.')
}
