// The responses of the OAuth endpoints. Errors of the paths below /oauth have the format of RFC 6749. Only the consent
// page, which is for people, shows errors in HTML.

import type { ApiError, RequestErrorCode } from '../../errors.ts'
import { openToAnyOrigin } from '../cors.ts'
import { statusOf } from '../envelope.ts'
import { escapeHtml, htmlPage } from '../html.ts'

const uncached = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

export function oauthJson(body: object, status = 200): Response {
  return Response.json(body, { status, headers: { ...openToAnyOrigin, ...uncached } })
}

export function oauthError(
  error: string,
  description: string,
  { status = 400, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return Response.json(
    { error, error_description: description },
    { status, headers: { ...openToAnyOrigin, ...uncached, ...headers } },
  )
}

/** Returns an error page for a person. The browser shows this page, and is not redirected to the OAuth client. */
export function errorPage(message: string, status: number): Response {
  return htmlPage('Access was not given', `<p>${escapeHtml(message)}</p>`, { status, cached: false })
}

export function isOAuthPath(path: string): boolean {
  return path.startsWith('/oauth/')
}

const errorNames: Partial<Record<RequestErrorCode, string>> = {
  RATE_LIMIT_EXCEEDED: 'too_many_requests',
  INTERNAL_ERROR: 'server_error',
  INSUFFICIENT_STORAGE: 'server_error',
  SERVICE_UNAVAILABLE: 'temporarily_unavailable',
  FORBIDDEN: 'access_denied',
}
/** The error codes whose HTTP status is 400 in OAuth, but another status in the API. */
const malformed: RequestErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']

/** Returns the response for an error: HTML for the consent page, otherwise the error format of OAuth. */
export function oauthAnswer(path: string, { code, message, headers }: ApiError) {
  const status = malformed.includes(code) ? 400 : statusOf(code)
  if (path === '/oauth/authorize') return { status, headers, body: errorPage(message, status) }
  const fallback = path === '/oauth/register' ? 'invalid_client_metadata' : 'invalid_request'
  const body = { error: errorNames[code] ?? fallback, error_description: message }
  return { status, headers: { ...openToAnyOrigin, ...uncached, ...headers }, body }
}
