// Tests the sign-in by the OAuth libraries oauth4webapi and openid-client.

import { expect, test } from 'bun:test'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { redirectUri, signIn } from '../support/oauth.ts'
import { shareServices, startTestService, type TestService } from '../support/service.ts'

shareServices()

const overHttp = { [oauth.allowInsecureRequests]: true }
const wanted = {
  client_name: 'Probe',
  redirect_uris: [redirectUri],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
}

test('oauth4webapi finds the server, registers, signs in, refreshes and revokes', async () => {
  const service = await startTestService()
  const issuer = new URL(service.url)
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...overHttp }),
  )
  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(server, wanted, overHttp),
  )
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const resource = `${service.url}/mcp`
  const back = await consent(service, server.authorization_endpoint ?? '', {
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'read write',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    resource,
  })
  const params = oauth.validateAuthResponse(server, client, back, state)
  const exchange = () =>
    oauth.authorizationCodeGrantRequest(server, client, oauth.None(), params, redirectUri, verifier, {
      ...overHttp,
      additionalParameters: { resource },
    })
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, await exchange())
  expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'read write' })
  expect(tokens.access_token).toStartWith('sto_')
  const call = (token: string) =>
    oauth.protectedResourceRequest(
      token,
      'GET',
      new URL('/v1/balance', service.url),
      undefined,
      null,
      overHttp,
    )
  expect((await call(tokens.access_token)).status).toBe(200)

  const refresh = (token: string | undefined) =>
    oauth.refreshTokenGrantRequest(server, client, oauth.None(), token ?? '', overHttp)
  const next = await oauth.processRefreshTokenResponse(server, client, await refresh(tokens.refresh_token))
  expect(next.refresh_token).not.toBe(tokens.refresh_token)
  const { status } = await oauth.revocationRequest(
    server,
    client,
    oauth.None(),
    next.refresh_token ?? '',
    overHttp,
  )
  expect(status).toBe(200)
  await expect(call(next.access_token)).rejects.toThrow(oauth.WWWAuthenticateChallengeError)
  await expect(
    refresh(next.refresh_token).then(answer => oauth.processRefreshTokenResponse(server, client, answer)),
  ).rejects.toMatchObject({ error: 'invalid_grant' })
})

test('openid-client finds the server, registers, signs in and refreshes', async () => {
  const service = await startTestService()
  const config = await openid.dynamicClientRegistration(new URL(service.url), wanted, openid.None(), {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  })
  const pkceCodeVerifier = openid.randomPKCECodeVerifier()
  const expectedState = openid.randomState()
  const start = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'read',
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
  })
  const back = await consent(service, start.origin + start.pathname, Object.fromEntries(start.searchParams))
  const tokens = await openid.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState })
  expect(tokens).toMatchObject({ scope: 'read' })
  const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
  const resource = new URL('/v1/transcriptions', service.url)
  expect((await openid.fetchProtectedResource(config, next.access_token, resource, 'GET')).status).toBe(200)
  await openid.tokenRevocation(config, next.access_token)
  await expect(openid.fetchProtectedResource(config, next.access_token, resource, 'GET')).rejects.toThrow()
})

/** Allows the client's access on the consent page. Returns the address to which the browser is redirected. */
async function consent(service: TestService, endpoint: string, params: Record<string, string>): Promise<URL> {
  const Cookie = await signIn(service, service.account('ana').key)
  const page = await fetch(`${endpoint}?${new URLSearchParams(params)}`, { headers: { Cookie } })
  const html = await page.text()
  const fields = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)]
  const body = new URLSearchParams()
  for (const [, name = '', value = ''] of fields) body.append(name, value)
  body.set('decision', 'allow')
  const headers = { Cookie, Origin: service.url }
  const answer = await fetch(endpoint, { method: 'POST', body, headers, redirect: 'manual' })
  return new URL(answer.headers.get('location') ?? '')
}
