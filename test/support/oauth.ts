// An OAuth client for tests, and a signed-in browser that uses the consent page.

import { type Answer, startTestService, type TestService } from './service.ts'

export const verifier = 'a-code-verifier-that-is-at-least-43-characters-long'
export const challenge = new Bun.CryptoHasher('sha256').update(verifier).digest('base64url')
export const redirectUri = 'http://127.0.0.1:9/callback'

type Served = Pick<TestService, 'fetch' | 'url'>
export type Tokens = { access_token: string; refresh_token: string; expires_in: number; scope: string }
type Fields = Record<string, string>

/** Starts a service with an account, an OAuth client and a signed-in browser. */
export async function startOAuth(settings: Fields = {}, { alone = false } = {}) {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off', ...settings }, alone })
  const account = service.account('ana')
  const cookie = await signIn(service, account.key)
  const client = await registerClient(service)
  return { service, account, cookie, client, ...flow(service, { cookie, clientId: client.body.client_id }) }
}

/** Signs in with an API key. Returns the session cookie. */
export async function signIn(service: Served, key: string): Promise<string> {
  const { headers } = await service.fetch('/app/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ key }),
  })
  return /^[^;]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? ''
}

export function registerClient(service: Served, metadata: object = {}): Promise<Answer> {
  return service.fetch('/oauth/register', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: 'Probe', redirect_uris: [redirectUri], ...metadata }),
  })
}

/** Returns functions for the steps of the OAuth authorization code flow, for one client and one browser. */
export function flow(service: Served, { cookie, clientId }: { cookie: string; clientId: string }) {
  /**
   * Returns the parameters of an authorization request, with the replacements in `changes`. An empty parameter is left
   * out.
   */
  const params = (changes: Fields = {}) =>
    given({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      state: 'a state',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...changes,
    })
  const open = (changes: Fields = {}, headers: Fields = { Cookie: cookie }) =>
    service.fetch(`/oauth/authorize?${params(changes)}`, { headers })
  const submit = (fields: Fields, headers: Fields = { Cookie: cookie, Origin: service.url }) =>
    post('/oauth/authorize', Object.fromEntries(params(fields)), headers)
  const post = (path: string, fields: Fields, headers: Fields = {}) =>
    service.fetch(path, { method: 'POST', headers, body: given(fields) })

  /** Allows the access of the client on the consent page. Returns the authorization code. */
  const getCode = async (changes: Fields = {}): Promise<string> => {
    const { status, headers, text } = await submit({ decision: 'allow', ...changes })
    const location = URL.parse(headers.get('location') ?? '')
    const code = location?.searchParams.get('code')
    if (!code) throw new Error(`consent answered ${status} ${location} ${text}`)
    return code
  }
  const exchange = (code: string, changes: Fields = {}) =>
    post('/oauth/token', {
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: redirectUri,
      code,
      code_verifier: verifier,
      ...changes,
    })
  const refresh = (refreshToken: string, changes: Fields = {}) =>
    post('/oauth/token', {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: refreshToken,
      ...changes,
    })
  const revoke = (token: string, changes: Fields = {}) =>
    post('/oauth/revoke', { token, client_id: clientId, ...changes })
  const getTokens = async (changes: Fields = {}): Promise<Tokens> =>
    (await exchange(await getCode(changes))).body
  const call = (token: string, path = '/v1/balance', init: RequestInit = {}) =>
    service.fetch(path, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } })
  return { params, open, submit, post, getCode, exchange, refresh, revoke, getTokens, call }
}

function given(fields: Fields): URLSearchParams {
  return new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ''))
}
