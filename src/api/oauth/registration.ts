// The registration of clients (RFC 7591). All clients are public clients: a client has no secret and proves itself with
// PKCE.

import { createClient, isRedirectUri } from '../../accounts/client.ts'
import { scopes } from '../../accounts/scope.ts'
import type { Db } from '../../db/db.ts'
import { limits } from '../../limits.ts'
import { oauthError, oauthJson } from './answers.ts'

/**
 * The authentication methods that a registration may request. The server registers `none` in place of each, because
 * clients have no secrets.
 */
const replacedMethods = ['none', 'client_secret_basic', 'client_secret_post']

export function registerClient(db: Db, metadata: Record<string, unknown>): Response {
  const refused = refusalOf(metadata)
  if (refused !== null) return oauthError('invalid_client_metadata', refused)
  const uris = metadata.redirect_uris
  if (!areRedirectUris(uris)) {
    return oauthError(
      'invalid_redirect_uri',
      `redirect_uris must be 1 to ${limits.redirectUrisMax} addresses, of at most ${limits.redirectUrisLengthMax} characters together: https, http on a loopback address, or a scheme that is a reversed domain name.`,
    )
  }
  const client = createClient(db, { name: nameOf(metadata.client_name), redirectUris: uris })
  return oauthJson(
    {
      client_id: client.id,
      client_id_issued_at: Math.floor(client.createdAt / 1000),
      client_name: client.name,
      redirect_uris: client.redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: scopes.join(' '),
    },
    201,
  )
}

/**
 * Returns the reason why the metadata of an OAuth client are refused, or null. Ignores unknown fields, as RFC 7591
 * requires. Does not check the redirect addresses.
 */
function refusalOf({ grant_types, response_types, token_endpoint_auth_method }: Record<string, unknown>) {
  if (!lists(grant_types, 'authorization_code')) return 'grant_types must name authorization_code.'
  if (!lists(response_types, 'code')) return 'response_types must name code.'
  const method = token_endpoint_auth_method ?? 'none'
  return replacedMethods.some(known => known === method) ? null : 'token_endpoint_auth_method must be none.'
}

/** Returns true if the field is missing or null, or if it is a list that contains the value. */
function lists(field: unknown, value: string): boolean {
  return field == null || (Array.isArray(field) && field.includes(value))
}

function areRedirectUris(uris: unknown): uris is string[] {
  return (
    Array.isArray(uris) &&
    uris.length > 0 &&
    uris.length <= limits.redirectUrisMax &&
    uris.every(uri => typeof uri === 'string' && uri.length <= limits.urlLengthMax && isRedirectUri(uri)) &&
    uris.join('').length <= limits.redirectUrisLengthMax
  )
}

/**
 * Returns the name of an OAuth client, shortened and without invisible characters, which could reverse the text on the
 * consent page. Returns a fixed text if no visible character is left.
 */
function nameOf(name: unknown): string {
  const text = typeof name === 'string' ? name : ''
  const visible = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim()
  return [...visible].slice(0, limits.clientNameLengthMax).join('') || 'A program without a name'
}
