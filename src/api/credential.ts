// Finds the account of a request by its credential: an API key in a header, or a session in a cookie.

import { findKey } from '../accounts/key.ts'
import { useSession } from '../accounts/session.ts'
import { ApiError } from '../errors.ts'
import { requireOwnOrigin } from './own-origin.ts'
import type { Service } from './service.ts'
import { readSessionToken } from './session-cookie.ts'

export type Caller = {
  accountId: string
  /** The API key of the request, or the key that opened its session. Null for a sign-in with a password. */
  keyId: string | null
  /** The name under which the rate limits count the request. */
  countedAs: string
}

/** Returns the caller of a request. Throws when the request has no valid credential. */
export function authenticate(service: Service, request: Request): Caller {
  const key = readKey(request.headers)
  const session = key === '' ? readSessionToken(service, request) : null
  return session === null ? callerOfKey(service, request, key) : callerOfSession(service, request, session)
}

/** Returns the caller of a route below /app. Only the cookie of a session is accepted there. */
export function authenticateSession(service: Service, request: Request): Caller {
  const session = readSessionToken(service, request)
  if (session === null) throw new ApiError('SESSION_ENDED', undefined, challenge(service, request))
  return callerOfSession(service, request, session)
}

function callerOfKey(service: Service, request: Request, text: string): Caller {
  const key = findKey(service.db, text)
  if (!key) throw new ApiError('INVALID_API_KEY', undefined, challenge(service, request))
  if (key.revokedAt !== null) throw new ApiError('API_KEY_REVOKED', undefined, challenge(service, request))
  return { accountId: key.accountId, keyId: key.id, countedAs: key.id }
}

function callerOfSession(service: Service, request: Request, token: string): Caller {
  requireOwnOrigin(service, request)
  const session = useSession(service.db, token)
  if (!session) throw new ApiError('SESSION_ENDED', undefined, challenge(service, request))
  const { accountId, keyId } = session
  return { accountId, keyId, countedAs: `sessions of ${accountId}` }
}

/** Returns the header of an answer with status 401. It tells a client where it can ask for an access token. */
function challenge({ baseUrl }: Service, request: Request): Record<string, string> {
  return {
    'WWW-Authenticate': `Bearer resource_metadata="${baseUrl(request)}/.well-known/oauth-protected-resource"`,
  }
}

function readKey(headers: Headers): string {
  const authorization = headers.get('authorization')
  if (authorization === null) return headers.get('x-api-key')?.trim() ?? ''
  return authorization.replace(/^Bearer\s+/i, '').trim()
}
