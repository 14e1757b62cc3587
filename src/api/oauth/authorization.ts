// Parses an authorization request (RFC 6749, section 4.1.1). With this request, a client sends a person's browser to
// the consent page.

import { type Client, findClient, isRegistered } from '../../accounts/client.ts'
import { type Scope, scopes } from '../../accounts/scope.ts'
import type { Db } from '../../db/db.ts'
import { limits } from '../../limits.ts'
import { readResources, repeatedName } from './parameters.ts'

export type Authorization = {
  client: Client
  redirectUri: string
  state: string | null
  scopes: Scope[]
  resources: string[]
  codeChallenge: string
}

/**
 * The reason why an authorization request is refused, and the address to which the browser is redirected with this
 * error. `redirectTo` is null if the browser must not be redirected: the client is unknown, or its redirect address is
 * invalid.
 */
export type Refusal = { message: string; redirectTo: string | null }

/** The parameters of an authorization request that the forms of the consent page contain as hidden fields. */
export const parameters = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'resource',
  'code_challenge',
  'code_challenge_method',
]

export function readAuthorization(db: Db, params: URLSearchParams, baseUrl: string): Authorization | Refusal {
  const repeated = repeatedName(params)
  const client = findClient(db, params.get('client_id') ?? '')
  if (!client) {
    const message =
      'The program that sent you here is not registered. Remove this server in the program, and add it again.'
    return { message, redirectTo: null }
  }
  const [only, another] = client.redirectUris
  const redirectUri = params.get('redirect_uri') ?? (another === undefined ? only : undefined)
  if (redirectUri === undefined || !isRegistered(client, redirectUri) || repeated === 'redirect_uri') {
    return { message: `${client.name} did not register the address to return to.`, redirectTo: null }
  }
  const state = params.get('state')
  const read = repeated ? wrong('invalid_request', `${repeated} is given twice.`) : readRest(params, baseUrl)
  if ('error' in read) {
    const { error, message } = read
    const answer = { error, error_description: message, state }
    return { message, redirectTo: redirectTo(redirectUri, answer, baseUrl) }
  }
  return { client, redirectUri, state, ...read }
}

/**
 * Adds query parameters to a redirect address: all non-null values of `answer`, and the service's base URL as `iss`.
 */
export function redirectTo(
  redirectUri: string,
  answer: Record<string, string | null>,
  baseUrl: string,
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...answer, iss: baseUrl })) {
    if (value !== null) query.set(name, value)
  }
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
}

type Wrong = { error: string; message: string }

function wrong(error: string, message: string): Wrong {
  return { error, message }
}

function readRest(
  params: URLSearchParams,
  baseUrl: string,
): Pick<Authorization, 'scopes' | 'resources' | 'codeChallenge'> | Wrong {
  for (const name of ['request', 'request_uri']) {
    if (params.has(name)) return wrong(`${name}_not_supported`, `${name} is not supported.`)
  }
  const responseType = params.get('response_type')
  if (responseType === null) return wrong('invalid_request', 'response_type is missing.')
  if (responseType !== 'code') return wrong('unsupported_response_type', 'response_type must be code.')
  if ((params.get('response_mode') ?? 'query') !== 'query') {
    return wrong('invalid_request', 'response_mode must be query.')
  }
  const codeChallenge = params.get('code_challenge') ?? ''
  if (params.get('code_challenge_method') !== 'S256') {
    return wrong('invalid_request', 'code_challenge_method must be S256.')
  }
  if (!/^[\w-]{43}$/.test(codeChallenge)) {
    return wrong('invalid_request', 'code_challenge must be a SHA-256 in base64url.')
  }
  if ((params.get('state') ?? '').length > limits.stateLengthMax) {
    return wrong('invalid_request', `state is longer than ${limits.stateLengthMax} characters.`)
  }
  const resources = readResources(params, baseUrl)
  if (!resources) return wrong('invalid_target', 'resource is not an address of this service.')
  const asked = readScopes(params.get('scope'))
  if (!asked) return wrong('invalid_scope', `scope may name ${scopes.join(' and ')}.`)
  return { scopes: asked, resources, codeChallenge }
}

/**
 * Returns the requested scopes, or null if one of them is unknown. If the request names no scopes, returns all scopes.
 */
function readScopes(text: string | null): Scope[] | null {
  const names = (text ?? '').split(' ').filter(name => name !== '')
  if (names.length === 0) return [...scopes]
  return names.every(name => scopes.some(scope => scope === name))
    ? scopes.filter(scope => names.includes(scope))
    : null
}
