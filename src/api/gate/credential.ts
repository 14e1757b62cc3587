// Finds the account of a request by its credential: an API key or an access token in a header, or a session in a
// cookie.

import { accessTokenStart, useAccessToken } from '../../accounts/access-token.ts'
import { findKey } from '../../accounts/key.ts'
import { type Scope, scopes } from '../../accounts/scope.ts'
import { useSession } from '../../accounts/session.ts'
import { ApiError } from '../../errors.ts'
import type { Service } from '../service.ts'
import { challenge, metadataUrl } from './challenge.ts'
import { isSafe, requireOwnOrigin } from './own-origin.ts'
import { readSessionToken } from './session-cookie.ts'

export type Caller = {
  accountId: string
  /**
   * The id of the API key in the request, or of the API key that opened the sign-in session. Null for an access token,
   * and for a session that a password opened.
   */
  keyId: string | null
  /** The scopes of the request. A key or a session has all scopes. */
  scopes: readonly Scope[]
  /**
   * The credential in the access log: the first characters of an API key, the word `session`, or the word `grant` with
   * the id of an OAuth grant.
   */
  shownAs: string
  /** The name under which the rate limits count the requests of this caller. */
  countedAs: string
}

/**
 * Returns the caller of a request. Throws if there is no valid credential, or if the access token lacks the scope for
 * the method. A request with a session must also pass `requireOwnOrigin`. An access token must be valid at the time
 * `at`, which is the current time by default.
 */
export function authenticate(service: Service, request: Request, at?: number): Caller {
  const caller = identify(service, request, at)
  requireScope(service, request, caller, isSafe(request) ? 'read' : 'write')
  return caller
}

/** Returns the caller of a request, without a check of the scopes. */
function identify(service: Service, request: Request, at?: number): Caller {
  const text = readKey(request.headers)
  const session = text === '' ? readSessionToken(service, request) : null
  if (session !== null) return callerOfSession(service, request, session)
  const challenges = {
    key: challenge(service, request),
    token: challenge(service, request, 'error="invalid_token", '),
  }
  return findCaller(service, text, { challenges, at })
}

export function requireScope(service: Service, request: Request, caller: Caller, scope: Scope): void {
  if (caller.scopes.includes(scope)) return
  throw new ApiError('INSUFFICIENT_SCOPE', `The access token does not have the scope ${scope}.`, {
    ...challenge(
      service,
      request,
      `error="insufficient_scope", scope="${[...caller.scopes, scope].join(' ')}", `,
    ),
  })
}

/**
 * Returns the caller of the MCP endpoint, which accepts API keys and access tokens, but no cookies. After a refusal,
 * the header WWW-Authenticate lists all scopes, because an MCP client requests the scopes in this header.
 */
export function authenticateAssistant(service: Service, request: Request, at?: number): Caller {
  const text = readKey(request.headers)
  const error = text === '' ? '' : 'error="invalid_token", '
  const challenge = {
    'WWW-Authenticate': `Bearer ${error}resource_metadata="${metadataUrl(service.baseUrl(request))}/mcp", scope="${scopes.join(' ')}"`,
  }
  return findCaller(service, text, { challenges: { key: challenge, token: challenge }, at })
}

/**
 * Returns the caller of a route of the web app, which accepts only the cookie of a sign-in session. Throws if there is
 * no valid session, or if `requireOwnOrigin` refuses the request.
 */
export function authenticateSession(service: Service, request: Request): Caller {
  const session = readSessionToken(service, request)
  if (session === null) throw new ApiError('SESSION_ENDED', undefined, challenge(service, request))
  return callerOfSession(service, request, session)
}

/**
 * The header WWW-Authenticate of a refused request: `key` for a missing, wrong or revoked API key, `token` for a wrong
 * access token.
 */
type Challenges = { key: Record<string, string>; token: Record<string, string> }

function findCaller(
  { db, keyUses }: Service,
  text: string,
  { challenges, at }: { challenges: Challenges; at: number | undefined },
): Caller {
  if (text.startsWith(accessTokenStart)) {
    const access = useAccessToken(db, text, at)
    if (!access) throw new ApiError('INVALID_TOKEN', undefined, challenges.token)
    const { accountId, grantId } = access
    const shownAs = `grant ${grantId}`
    return { accountId, keyId: null, scopes: access.scopes, shownAs, countedAs: grantId }
  }
  const key = findKey(db, text)
  if (!key) throw new ApiError('INVALID_API_KEY', undefined, challenges.key)
  if (key.revokedAt !== null) throw new ApiError('API_KEY_REVOKED', undefined, challenges.key)
  keyUses.note(key.id)
  return { accountId: key.accountId, keyId: key.id, scopes, shownAs: key.prefix, countedAs: key.id }
}

function callerOfSession(service: Service, request: Request, token: string): Caller {
  requireOwnOrigin(service, request)
  const session = useSession(service.db, token)
  if (!session) throw new ApiError('SESSION_ENDED', undefined, challenge(service, request))
  const { accountId, keyId } = session
  return { accountId, keyId, scopes, shownAs: 'session', countedAs: `sessions of ${accountId}` }
}

function readKey(headers: Headers): string {
  const authorization = headers.get('authorization')
  if (authorization === null) return headers.get('x-api-key')?.trim() ?? ''
  return authorization.replace(/^Bearer\s+/i, '').trim()
}
