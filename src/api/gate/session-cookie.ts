// The cookie that contains the token of a sign-in session.

import { limits } from '../../limits.ts'
import type { Service } from '../service.ts'

/** Returns the session token in the cookie of a request, or null if there is no such cookie. */
export function readSessionToken(service: Service, request: Request): string | null {
  const cookies = request.headers.get('cookie')?.split(';') ?? []
  const start = `${nameOf(service, request)}=`
  const cookie = cookies.map(each => each.trim()).find(each => each.startsWith(start))
  return cookie?.slice(start.length) || null
}

/**
 * Returns a Set-Cookie header with a session token. The browser hides the cookie from scripts and does not send it with
 * requests from pages of other sites.
 */
export function sessionCookie(service: Service, request: Request, token: string): string {
  return setCookie(service, request, { token, seconds: limits.sessionTtlMs / 1000 })
}

/** Returns a Set-Cookie header that makes the browser remove the session cookie. */
export function removedCookie(service: Service, request: Request): string {
  return setCookie(service, request, { token: '', seconds: 0 })
}

function setCookie(
  service: Service,
  request: Request,
  { token, seconds }: { token: string; seconds: number },
): string {
  const secure = isSecure(service, request) ? '; Secure' : ''
  const name = nameOf(service, request)
  return `${name}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
}

/**
 * Returns the name of the session cookie. On https, the name begins with `__Host-`, because a browser sends such a
 * cookie only to the same host. On http, a browser would refuse a cookie with this prefix.
 */
function nameOf(service: Service, request: Request): string {
  return isSecure(service, request) ? '__Host-steno_session' : 'steno_session'
}

function isSecure({ baseUrl }: Service, request: Request): boolean {
  return baseUrl(request).startsWith('https:')
}
