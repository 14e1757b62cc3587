// Tests that the service logs no secret of OAuth or of a sign-in, such as a token, code, state, password or API key.

import { expect, test } from 'bun:test'
import { challenge, flow, registerClient, signIn, verifier } from '../support/oauth.ts'
import { prepareData, testedProgram } from '../support/server.ts'

test('no secret of a sign-in is in the log', async () => {
  const data = prepareData()
  const command = [...testedProgram(), 'serve', '--port', '0']
  const server = Bun.spawn(command, {
    env: {
      PATH: process.env.PATH ?? '',
      STENO_DATA_DIR: data.dataDir,
      STENO_MODEL: data.dataDir,
      STENO_LOG: 'json',
      STENO_RATE_LIMITS: 'off',
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const log = new Response(server.stderr).text()
  const secrets = await signInAndOut(await addressIn(server.stdout), data.key)
  server.kill('SIGTERM')
  await server.exited
  data.remove()
  const text = await log
  expect(text).toContain('"route":"/oauth/token"')
  expect(secrets.filter(secret => text.includes(secret))).toEqual([])
})

/**
 * Sends all kinds of OAuth requests, including some that fail. Returns the secrets in the requests and in the
 * responses.
 */
async function signInAndOut(url: string, key: string): Promise<string[]> {
  const service = { url, fetch: (path: string, init: RequestInit = {}) => ask(`${url}${path}`, init) }
  const cookie = await signIn(service, key)
  const { client_id } = (await registerClient(service)).body
  const ana = flow(service, { cookie, clientId: client_id })
  const password = 'a password that is wrong'
  await ana.submit({ decision: 'sign-in', email: 'ana@example.org', password }, { Origin: url })
  await ana.submit({ decision: 'allow' }, { Cookie: cookie, Origin: 'https://elsewhere.example' })
  const code = await ana.getCode()
  await ana.exchange(code, { code_verifier: 'x'.repeat(43) })
  const first = (await ana.exchange(code)).body
  const next = (await ana.refresh(first.refresh_token)).body
  await ana.call(next.access_token, '/v1/transcribe/x', { method: 'DELETE' })
  await ana.revoke(next.access_token)
  await ana.call(next.access_token, '/v1/transcribe/x', { method: 'DELETE' })
  await ana.exchange(code)
  const tokens = [first, next].flatMap(({ access_token, refresh_token }) => [access_token, refresh_token])
  const secrets = [code, ...tokens, key, cookie.split('=')[1] ?? '']
  expect(secrets.every(secret => secret.length > 20)).toBe(true)
  return [...secrets, password, verifier, challenge, 'a state']
}

/** Reads the service's output until a line contains its address. Returns this address. */
async function addressIn(output: ReadableStream<Uint8Array>): Promise<string> {
  const reader = output.getReader()
  let text = ''
  for (;;) {
    const [url] = /http:\/\/\S+:\d+(?=\s)/.exec(text) ?? []
    if (url) return url
    const { value, done } = await reader.read()
    if (done) throw new Error(`the service did not start: ${text}`)
    text += new TextDecoder().decode(value)
  }
}

async function ask(url: string, init: RequestInit) {
  const response = await fetch(url, { redirect: 'manual', ...init })
  const { status, headers } = response
  const text = await response.text()
  const isJson = headers.get('content-type')?.startsWith('application/json')
  return { status, headers, text, body: isJson ? JSON.parse(text) : null }
}
