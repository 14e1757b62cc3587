// The token endpoint (RFC 6749 section 3.2) and the revocation endpoint (RFC 7009).

import { exchangeCode } from '../../accounts/authorization-code.ts'
import { findClient } from '../../accounts/client.ts'
import { refreshTokens, revokeToken, type TokenError, type Tokens } from '../../accounts/grant-token.ts'
import type { Db } from '../../db/db.ts'
import { limits } from '../../limits.ts'
import { openToAnyOrigin } from '../cors.ts'
import { oauthError, oauthJson } from './answers.ts'
import { readResources, repeatedName } from './parameters.ts'

type Asked = { form: URLSearchParams; headers: Headers; baseUrl: string }

export function tokenAnswer(db: Db, { form, headers, baseUrl }: Asked): Response {
  const refused = refuseClient(db, form, headers)
  if (refused) return refused
  const clientId = form.get('client_id') ?? ''
  const resources = readResources(form, baseUrl)
  if (!resources) return refusedTokens('invalid_target')
  switch (form.get('grant_type')) {
    case 'authorization_code': {
      const [code, codeVerifier] = [form.get('code'), form.get('code_verifier')]
      if (!code) return missing('code')
      if (!codeVerifier) return missing('code_verifier')
      const redirectUri = form.get('redirect_uri')
      return answerOf(exchangeCode(db, { code, codeVerifier, clientId, redirectUri, resources }))
    }
    case 'refresh_token': {
      const refreshToken = form.get('refresh_token')
      if (!refreshToken) return missing('refresh_token')
      const scopes = form.get('scope')?.split(' ').filter(Boolean) ?? null
      return answerOf(refreshTokens(db, { refreshToken, clientId, scopes, resources }))
    }
    case null:
      return missing('grant_type')
    default:
      return oauthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.')
  }
}

/**
 * Returns the response to a revocation request. An unknown token gets the same response as a known token (RFC 7009).
 */
export function revocationAnswer(db: Db, { form, headers }: Omit<Asked, 'baseUrl'>): Response {
  const refused = refuseClient(db, form, headers)
  if (refused) return refused
  const token = form.get('token')
  if (!token) return missing('token')
  revokeToken(db, token, { clientId: form.get('client_id') ?? '' })
  return new Response(null, { headers: openToAnyOrigin })
}

/**
 * Returns the error for a token or revocation request that must be refused, otherwise null. Only the parameter
 * `resource` may be repeated. `client_id` must be known. A client secret or the header Authorization is refused,
 * because no client has a secret.
 */
function refuseClient(db: Db, form: URLSearchParams, headers: Headers): Response | null {
  const repeated = repeatedName(form)
  if (repeated) return oauthError('invalid_request', `${repeated} is given twice.`)
  const authorization = headers.get('authorization')
  if (authorization !== null || form.get('client_secret')) {
    const challenge = /^basic\b/i.test(authorization ?? '')
      ? { 'WWW-Authenticate': 'Basic realm="OAuth"' }
      : {}
    const options = { status: 401, headers: challenge }
    return oauthError('invalid_client', 'Clients have no secret here: send client_id in the body.', options)
  }
  const clientId = form.get('client_id')
  if (!clientId) return missing('client_id')
  return findClient(db, clientId)
    ? null
    : oauthError('invalid_client', 'The client is not registered.', { status: 401 })
}

function missing(name: string): Response {
  return oauthError('invalid_request', `${name} is missing.`)
}

const tokenErrors: Record<TokenError, string> = {
  invalid_grant: 'The code or refresh token is unknown, expired, used, or of another client or address.',
  invalid_scope: 'scope asks for more than was granted.',
  invalid_target: 'resource is not one for which access was granted.',
}

function refusedTokens(error: TokenError): Response {
  return oauthError(error, tokenErrors[error])
}

function answerOf(result: Tokens | TokenError): Response {
  if (typeof result === 'string') return refusedTokens(result)
  return oauthJson({
    access_token: result.accessToken,
    token_type: 'Bearer',
    expires_in: limits.accessTokenTtlMs / 1000,
    refresh_token: result.refreshToken,
    scope: result.scopes.join(' '),
  })
}
