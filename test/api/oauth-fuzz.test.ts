// Sends random requests from a fixed seed to the endpoints of OAuth, sign-in and MCP. No response may have a status of
// 500 or more, or contain a token or an unescaped `<script>`. A redirect may lead only to the service or to the
// client's redirect address.

import { expect, test } from 'bun:test'
import { parameters } from '../../src/api/oauth/authorization.ts'
import { challenge, redirectUri, signIn, startOAuth } from '../support/oauth.ts'
import { seeded } from '../support/random.ts'
import { shareServices } from '../support/service.ts'

shareServices()

const casesEach = 60
const texts = [
  '',
  ' ',
  'x',
  '\u0000',
  '\ud800',
  '\u202e',
  '%zz',
  "'; drop table grants; --",
  '<script>alert(1)</script>',
  '"><form action=//elsewhere.example>',
  'https://elsewhere.example/',
  'javascript:alert(1)',
  '\r\nLocation: https://elsewhere.example',
  '__proto__',
  'x'.repeat(5000),
  'code',
  'read write',
  'authorization_code',
  'refresh_token',
  'S256',
  'allow',
  'deny',

  'tools/call',
  'get_transcript',
]
const values: unknown[] = [
  ...texts,
  null,
  true,
  -1,
  1.5,
  1e308,
  [],
  {},
  [[]],
  { toString: null },
  [null],
  [''],
]

test('no random request is answered with a fault, a foreign address or a token', async () => {
  const { service, account, client, cookie } = await startOAuth()
  const random = seeded(7)
  const own = { Cookie: cookie, Origin: service.url }
  const known = [client.body.client_id, redirectUri, challenge, service.url, `${service.url}/mcp`]
  const text = () => random.pick([...texts, ...known])
  const names = [
    ...parameters,
    'decision',
    'key',
    'email',
    'password',
    'grant_type',
    'code',
    'code_verifier',
    'token',
  ]
  const fields = () => {
    const form = new URLSearchParams()
    for (let count = random.below(12); count > 0; count--) form.append(random.pick(names), text())
    return form
  }
  const object = (keys: string[]) => Object.fromEntries(keys.map(key => [key, random.pick(values)]))
  const json = (body: unknown, headers: Record<string, string>) => ({
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
  })
  const asKey = { Authorization: `Bearer ${account.key}` }
  const requests: (() => [string, RequestInit])[] = [
    () => [`/oauth/authorize?${fields()}`, { headers: { Cookie: cookie } }],
    () => ['/oauth/authorize', { method: 'POST', body: fields(), headers: own }],
    () => ['/oauth/token', { method: 'POST', body: fields() }],
    () => ['/oauth/revoke', { method: 'POST', body: fields() }],
    () => [
      '/oauth/register',
      json(object(['redirect_uris', 'client_name', 'grant_types', 'response_types']), {}),
    ],
    () => ['/app/session', json(object(['email', 'key']), {})],
    () => ['/mcp', json(object(['jsonrpc', 'id', 'method', 'params']), asKey)],
    () => [
      '/mcp',
      json(
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: {
            name: random.pick(['get_transcript', 'search_transcripts', 'list_transcripts', 'x']),
            arguments: object(['id', 'page', 'query', 'limit', 'cursor', 'format', 'status']),
          },
        },
        asKey,
      ),
    ],
  ]
  for (const make of requests) {
    for (let count = 0; count < casesEach; count++) {
      const [path, init] = make()
      const answer = await fetch(`${service.url}${path}`, { redirect: 'manual', ...init })
      const body = await answer.text()
      expect([path, init.body?.toString(), answer.status < 500]).toEqual([path, init.body?.toString(), true])
      const location = answer.headers.get('location')
      if (location !== null)
        expect(location.startsWith(`${redirectUri}?`) || location.startsWith(service.url)).toBe(true)
      expect(body).not.toMatch(/sto_|str_/)
      expect(body).not.toContain('<script>')
    }
  }
  expect(await signIn(service, account.key)).toContain('steno_session=')
})
