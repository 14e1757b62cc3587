// Protects requests that contain a cookie against cross-site request forgery.

import { ApiError } from '../../errors.ts'
import type { Service } from '../service.ts'

/** Returns true if requests with this method change nothing. */
export function isSafe({ method }: Request): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method)
}

/**
 * Throws if the request may change something, unless a page of this service sent it. The header Sec-Fetch-Site says
 * where the page is from. An older browser sends only the header Origin, with the site of the page. A request with
 * neither header is refused.
 */
export function requireOwnOrigin(service: Service, request: Request): void {
  if (isSafe(request) || senderOf(service, request) === 'own') return
  throw new ApiError('FORBIDDEN', 'A session accepts this request only from a page of this service.')
}

/**
 * Throws unless a page of this service sent the request. A request with neither Sec-Fetch-Site nor Origin is accepted,
 * because no browser sent it.
 */
export function refuseForeignOrigin(service: Service, request: Request): void {
  if (senderOf(service, request) !== 'foreign') return
  throw new ApiError('FORBIDDEN', 'A web page of another site may not send this request.')
}

function senderOf({ baseUrl }: Service, request: Request): 'own' | 'foreign' | 'unknown' {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin' ? 'own' : 'foreign'
  const origin = request.headers.get('origin')
  if (origin === null) return 'unknown'
  // A browser may reach the service by a name that is not in the base URL, such as localhost. A request is then
  // accepted if the host in the header Origin equals the header Host.
  const host = URL.parse(origin)?.host
  const isOwn = origin === new URL(baseUrl(request)).origin || host === request.headers.get('host')
  return isOwn ? 'own' : 'foreign'
}
