// Tests the endpoint /mcp with the official MCP client, which also signs in by OAuth, and with plain HTTP requests.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { findKey, revokeKey } from '../../src/accounts/key.ts'
import { inTurn } from '../../src/api/jobs/transcript-turns.ts'
import { cutPages } from '../../src/api/mcp/pages.ts'
import { nextProgress, readTranscript, waitForEnd } from '../../src/api/mcp/reading.ts'
import type { ToolContext } from '../../src/api/mcp/tool.ts'
import { getTranscript } from '../../src/api/mcp/transcript-tool.ts'
import { databasePath } from '../../src/db/db.ts'
import { ApiError } from '../../src/errors.ts'
import { LiveJobs } from '../../src/jobs/live.ts'
import { limits, rates } from '../../src/limits.ts'
import { speech } from '../support/media.ts'
import { redirectUri, signIn, startOAuth } from '../support/oauth.ts'
import { shareServices, sourceOnly, startTestService, steered, type TestService } from '../support/service.ts'
import { addTranscript } from '../support/transcripts.ts'

shareServices()

/**
 * Connects an MCP client with an API key. The returned function `call` calls a tool. It returns the text of the result,
 * and whether the result is an error.
 */
async function connect(service: TestService, key: string) {
  const client = new Client({ name: 'probe', version: '1' })
  const requestInit = { headers: { Authorization: `Bearer ${key}` } }
  const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit })
  await client.connect(transport)
  const call = async (
    name: string,
    args: Record<string, unknown> = {},
    onprogress?: (told: Told) => void,
  ) => {
    const result = await client.callTool(
      { name, arguments: args },
      undefined,
      onprogress ? { onprogress } : {},
    )
    const [content] = result.content as { type: string; text: string }[]
    return { text: content?.text ?? '', isError: result.isError === true }
  }
  return { client, call }
}

type Told = { progress: number; total?: number | undefined; message?: string | undefined }

type Kept = { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; opened?: URL }

/**
 * Returns an OAuth provider for an MCP client without a browser. `kept` has the data that the SDK stores, such as
 * tokens, and the address that a browser would open.
 */
function withoutBrowser() {
  const kept: Kept = {}
  const provider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    clientMetadata: { client_name: 'MCP probe', redirect_uris: [redirectUri] },
    clientInformation: () => kept.client,
    saveClientInformation(client) {
      kept.client = client
    },
    tokens: () => kept.tokens,
    saveTokens(tokens) {
      kept.tokens = tokens
    },
    redirectToAuthorization(url) {
      kept.opened = url
    },
    saveCodeVerifier(verifier) {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier ?? '',
  }
  return { kept, provider }
}

/**
 * Allows the OAuth client's access on the consent page `opened`, as a signed-in person. Returns the authorization code.
 */
async function allow(service: TestService, opened: URL): Promise<string> {
  const Cookie = await signIn(service, service.account('ana').key)
  const { headers } = await fetch(opened.origin + opened.pathname, {
    method: 'POST',
    headers: { Cookie, Origin: opened.origin },
    body: new URLSearchParams([...opened.searchParams, ['decision', 'allow']]),
    redirect: 'manual',
  })
  return new URL(headers.get('location') ?? '').searchParams.get('code') ?? ''
}

test('the official client signs in by itself, lists the tools, and refreshes its token', async () => {
  const service = await startTestService()
  const address = new URL(`${service.url.replace('127.0.0.1', 'localhost')}/mcp`)
  const { kept, provider } = withoutBrowser()
  const transport = () => new StreamableHTTPClientTransport(address, { authProvider: provider })
  const first = transport()
  await expect(new Client({ name: 'probe', version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError)
  expect(kept.opened?.searchParams.get('resource')).toBe(address.href)
  expect(kept.opened?.searchParams.get('scope')).toBe('read write')
  await first.finishAuth(await allow(service, kept.opened!))

  const client = new Client({ name: 'probe', version: '1' })
  await client.connect(transport())
  expect(client.getServerVersion()?.name).toBe('steno')
  expect(client.getInstructions()).toContain('transcribe_url')
  const { tools } = await client.listTools()
  expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
    ['transcribe_url', false],
    ['get_transcript', true],
    ['search_transcripts', true],
    ['list_transcripts', true],
  ])
  for (const { inputSchema, description } of tools) {
    expect([inputSchema.type, inputSchema.additionalProperties]).toEqual(['object', false])
    expect(description?.length).toBeGreaterThan(50)
  }
  const before = kept.tokens
  kept.tokens = { ...before!, access_token: 'sto_expired' }
  const listed = await client.callTool({ name: 'list_transcripts', arguments: {} })
  expect(listed.content).toEqual([{ type: 'text', text: 'There is no transcription yet.' }])
  expect(kept.tokens?.refresh_token).not.toBe(before?.refresh_token)
  await client.close()
})

steered(
  'an assistant transcribes an address, sees the progress, and reads and searches the transcript',
  async () => {
    const service = await startTestService({ settings: { STENO_ALLOW_NETS: '127.0.0.0/8' } })
    using files = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(speech(90)) })
    const { call } = await connect(service, service.account('ana').key)
    const url = `http://127.0.0.1:${files.port}/meeting.mp3`
    const told: Told[] = []
    const transcribed = call('transcribe_url', { url, diarize: 'true', language: 'en' }, each =>
      told.push(each),
    )
    const task = await service.engine.given(1)
    task.options.onSeconds(45)
    service.engine.finish(task, 'The budget is approved.')
    const { text, isError } = await transcribed
    expect(isError).toBe(false)
    expect(text).toMatch(/^Transcription [\w-]{36}: language en, length 1:30, page 1 of 1\.\n\n\[0+:00\] /)
    expect(text).toContain('The budget is approved.')
    expect(told.length).toBeGreaterThan(0)
    const steps = told.map(({ progress }) => progress)
    expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b))
    expect(told.every(({ total, message }) => total === 100 && message !== undefined)).toBe(true)

    const id = /[\w-]{36}/.exec(text)?.[0] ?? ''
    expect((await call('get_transcript', { id })).text).toBe(text)
    const srt = await call('get_transcript', { id, format: 'srt' })
    expect(srt.text).toContain('00:00:00,000 --> ')
    await service.indexed()
    const found = await call('search_transcripts', { query: '"budget is"' })
    expect(found.text).toStartWith(`${id} [0:00] SPEAKER 1: The budget is approved.\n  from ${url}, 20`)
    const listed = await call('list_transcripts', { status: 'completed' })
    expect(listed.text).toStartWith(`${id} completed, length 1:30, language en, from ${url}, 20`)
  },
)

steered('a tool waits for a job that runs, and tells why a job failed', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const { call } = await connect(service, ana.key)
  const id = await ana.transcribe(speech(30))
  const task = await service.engine.given(1)
  const read = call('get_transcript', { id })
  service.engine.finish(task, 'Here it is.')
  expect((await read).text).toContain('Here it is.')
  const broken = await ana.transcribe('no media')
  await ana.until(broken, 'failed')
  const failed = await call('get_transcript', { id: broken })
  expect([failed.isError, failed.text]).toEqual([true, expect.stringContaining('INVALID_MEDIA_FORMAT')])
})

steered('a tool whose key is revoked while it waits reads no transcript', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const { call } = await connect(service, ana.key)
  const id = await ana.transcribe(speech(30))
  const task = await service.engine.given(1)
  const ended = service.live.ended.bind(service.live)
  service.live.ended = (...args) => {
    const waited = ended(...args)
    revokeKey(service.db, ana.keyId)
    service.engine.finish(task, 'Here it is.')
    return waited
  }
  expect(await call('get_transcript', { id })).toEqual({
    isError: true,
    text: expect.stringContaining('(API_KEY_REVOKED)'),
  })
})

sourceOnly('a tool checks the credential again when it has waited for its turn to read', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = addTranscript(service.db, ana, ['One.'])
  const revocation = inTurn('ben', () => revokeKey(service.db, ana.keyId))
  const recheck = () => {
    if (findKey(service.db, ana.key)?.revokedAt !== null) throw new ApiError('API_KEY_REVOKED')
  }
  const context = { service, caller: { accountId: ana.id }, recheck } as unknown as ToolContext
  const text = getTranscript.run(context, { id })
  await revocation
  expect(async () => await text).toThrow(new ApiError('API_KEY_REVOKED'))
})

test('while the database is locked, a tool says that the service is busy', async () => {
  const service = await startTestService()
  const { call } = await connect(service, service.account('ana').key)
  using lock = new Database(databasePath(service.dataDir))
  lock.run('begin immediate')
  const refused = await call('transcribe_url', { url: 'https://media.test/a.mp3' })
  lock.run('rollback')
  expect([refused.isError, refused.text]).toEqual([
    true,
    expect.stringMatching(/busy.*\(SERVICE_UNAVAILABLE\)$/),
  ])
})

steered('a wait that ends before the job names the tool that waits on', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(30))
  await service.engine.given(1)
  const { db } = service
  const context = {
    service: { db, live: new LiveJobs(db) },
    caller: { accountId: ana.id },
    recheck: () => {},
    report: async () => {},
    signal: AbortSignal.abort(),
  }
  await waitForEnd(context, id)
  const text = await readTranscript(context, id, { page: 1, format: 'text' })
  expect(text).toContain(`The transcription ${id} is processing: `)
  expect(text).toEndWith('Call get_transcript with this id to wait for it.')
})

steered('a long transcript comes in pages', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(3600))
  const words = Array.from({ length: 12_000 }, (_, at) => `word${at}`).join(' ')
  service.engine.finish(await service.engine.given(1), words)
  await ana.until(id, 'completed')
  const { call } = await connect(service, ana.key)
  const first = await call('get_transcript', { id })
  const pages = Number(/page 1 of (\d+)/.exec(first.text)?.[1])
  expect(pages).toBe(Math.ceil(words.length / limits.toolPageCharacters))
  expect(first.text).toEndWith(`(Page 1 of ${pages}; call get_transcript with page 2.)`)
  const texts = [first.text]
  for (let page = 2; page <= pages; page++) texts.push((await call('get_transcript', { id, page })).text)
  for (const text of texts) expect(text.length).toBeLessThan(limits.toolPageCharacters + 300)
  const bodies = texts.map(text => text.replace(/^.*\n\n/, '').replace(/\n\(Page .*\)$/, ''))
  expect(
    bodies
      .join('')
      .replace(/^\[[\d:]+\] /, '')
      .trim(),
  ).toBe(words)
  const beyond = await call('get_transcript', { id, page: pages + 1 })
  expect([beyond.isError, beyond.text]).toEqual([true, expect.stringContaining(`the last page is ${pages}`)])
})

test('each progress report is higher than the one before, and only a completed job has 100', () => {
  const percents = [0, 0, 99, 100, 100, null, 0, 100]
  const reports: number[] = []
  for (const progressPercent of percents)
    reports.push(nextProgress(reports.at(-1) ?? null, { state: 'processing', progressPercent }))
  expect(reports.slice(0, 3)).toEqual([0, 0.1, 99])
  expect(reports).toEqual([...new Set(reports)].toSorted((one, other) => one - other))
  expect(reports.at(-1)).toBeLessThan(100)
  expect(nextProgress(reports.at(-1)!, { state: 'completed', progressPercent: 100 })).toBe(100)
})

test('pages join to the whole text and cut no character', () => {
  const line = `${'x'.repeat(99)}\n`
  for (const text of [
    '',
    line,
    line.repeat(1000),
    'x '.repeat(40_000),
    '💥'.repeat(50_001),
    'x'.repeat(limits.toolPageCharacters),
  ]) {
    const pages = cutPages(text)
    expect(pages.join('')).toBe(text || '(No speech was found.)\n')
    for (const page of pages) {
      expect(page.length).toBeLessThanOrEqual(limits.toolPageCharacters)
      expect(page.isWellFormed()).toBe(true)
    }
  }
})

test('lists come in pages', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  for (let count = 0; count < 3; count++)
    await ana.post('/v1/transcribe', { url: `http://127.0.0.1:1/${count}.mp3` })
  const { call } = await connect(service, ana.key)
  const first = await call('list_transcripts', { limit: 2 })
  const cursor = /cursor (\S+)$/.exec(first.text)?.[1]
  expect(first.text.split('\n')).toHaveLength(3)
  const last = await call('list_transcripts', { limit: 2, cursor })
  expect(last.text).toContain('from http://127.0.0.1:1/0.mp3, 20')
  expect(last.text).not.toContain('cursor')
  await ana.transcribe()
  expect((await call('list_transcripts', { limit: 1 })).text).toContain('from talk.mp3, 20')
  // A file that was sent in a form may have no name.
  service.db.run(`update uploads set filename = ''`)
  expect((await call('list_transcripts', { limit: 1 })).text).toContain('from a recording, 20')
})

const wrongCalls: [tool: string, args: object, answer: string][] = [
  [
    'transcribe_url',
    {},
    'url is missing: give the http or https address of an audio or video file. (INVALID_REQUEST)',
  ],
  ['transcribe_url', { url: 'not an address' }, 'url is not a valid http or https address.'],
  ['transcribe_url', { url: 7 }, 'url is not a valid http or https address.'],
  ['transcribe_url', { url: '' }, 'url is not valid: give'],
  [
    'transcribe_url',
    { url: 'https://a.example/b.mp3', language: 'klingon' },
    'language is not a supported code',
  ],
  [
    'transcribe_url',
    { url: 'https://a.example/b.mp3', speaker_count: 0 },
    'speaker_count is not valid: give the number',
  ],
  ['transcribe_url', { url: 'https://a.example/b.mp3', speaker_count: 2 }, 'speaker_count needs diarize'],
  ['transcribe_url', { url: 'https://a.example/b.mp3', diarize: 'maybe' }, 'diarize is not valid: give true'],
  ['transcribe_url', { uri: 'https://a.example/b.mp3' }, 'uri is not an argument; there are url, language,'],
  ['get_transcript', {}, 'id is missing'],
  [
    'get_transcript',
    { id: 'x' },
    'There is no transcription x; list_transcripts names all. (TRANSCRIPTION_NOT_FOUND)',
  ],
  ['get_transcript', { id: 'x', page: 0 }, 'page is not valid: give the number of a page, from 1.'],
  ['get_transcript', { id: 'x', page: 'last' }, 'page is not valid'],
  ['get_transcript', { id: 'x', format: 'docx' }, 'format is not valid: give text'],
  ['search_transcripts', {}, 'query is missing'],
  [
    'search_transcripts',
    { query: 'a', limit: 51 },
    'limit is not valid: give a number of items from 1 to 50.',
  ],
  ['search_transcripts', { query: 'a', cursor: 'x' }, 'cursor does not belong to this list'],
  ['list_transcripts', { status: 'done' }, 'status is not valid: give one of created,'],
  ['delete_everything', {}, 'There is no tool delete_everything'],
]
test('a wrong call gets a result that says what to do', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
  const { call } = await connect(service, service.account('ana').key)
  for (const [name, args, answer] of wrongCalls) {
    const { text, isError } = await call(name, args as Record<string, unknown>)
    expect([name, args, isError, text]).toEqual([name, args, true, expect.stringContaining(answer)])
  }
  for (const query of ['', ' ', '"', '""" NEAR( * -', 'x'.repeat(10_000)]) {
    const { text, isError } = await call('search_transcripts', { query, limit: null })
    expect([isError, text]).toEqual([false, expect.stringContaining('Nothing was found')])
  }
})

test('a call without money, and a transcript of another account, are refused', async () => {
  const service = await startTestService()
  const poor = await connect(service, service.account('poor', { credit: 0 }).key)
  const refused = await poor.call('transcribe_url', { url: 'https://a.example/b.mp3' })
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining('(ZERO_BALANCE)')])
  const ana = service.account('ana')
  const { body } = await ana.post('/v1/transcribe', { url: 'http://127.0.0.1:1/a.mp3' })
  const foreign = await poor.call('get_transcript', { id: body.id })
  expect([foreign.isError, foreign.text]).toEqual([
    true,
    expect.stringContaining('(TRANSCRIPTION_NOT_FOUND)'),
  ])
  expect((await poor.call('list_transcripts')).text).toBe('There is no transcription yet.')
})

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
}

function post(service: TestService, message: unknown, headers: Record<string, string>) {
  return service.fetch('/mcp', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  })
}

test('a request without a valid key or token is told where to sign in', async () => {
  const service = await startTestService()
  const { key, keyId } = service.account('ana')
  const metadata = `resource_metadata="${service.url}/.well-known/oauth-protected-resource/mcp", scope="read write"`
  const challengeTo = async (headers: Record<string, string>) => {
    const answer = await post(service, initialize, headers)
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, '*'])
    return answer.headers.get('www-authenticate')
  }
  expect(await challengeTo({})).toBe(`Bearer ${metadata}`)
  expect(await challengeTo({ Cookie: await signIn(service, key) })).toBe(`Bearer ${metadata}`)
  for (const token of ['not-a-token', 'sto_unknown', 'sk_live_unknown'])
    expect(await challengeTo({ Authorization: `Bearer ${token}` })).toBe(
      `Bearer error="invalid_token", ${metadata}`,
    )
  expect((await post(service, initialize, { 'X-Api-Key': key })).status).toBe(200)
  revokeKey(service.db, keyId)
  expect(await challengeTo({ 'X-Api-Key': key })).toBe(`Bearer error="invalid_token", ${metadata}`)
})

test('a token with the scope read alone may read, and is asked to sign in again for more', async () => {
  const { service, getTokens } = await startOAuth()
  const { access_token } = await getTokens({ scope: 'read', resource: `${service.url}/mcp` })
  const { call } = await connect(service, access_token)
  expect((await call('list_transcripts')).isError).toBe(false)
  const message = {
    jsonrpc: '2.0',
    id: 2,
    method: 'tools/call',
    params: { name: 'transcribe_url', arguments: {} },
  }
  for (const asked of [message, [message]]) {
    const { status, headers, body } = await post(service, asked, { Authorization: `Bearer ${access_token}` })
    expect([status, body.error.code]).toEqual([403, 'INSUFFICIENT_SCOPE'])
    expect(headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="read write"')
  }
  const writer = await getTokens({ scope: 'write' })
  await expect(connect(service, writer.access_token)).rejects.toThrow()
})

test('a page of another site cannot call the tools', async () => {
  const service = await startTestService()
  const { key } = service.account('ana')
  const callFrom = (Origin: string) => post(service, initialize, { Authorization: `Bearer ${key}`, Origin })
  for (const origin of [service.url, 'http://localhost:6274', 'http://127.0.0.1:1', 'http://[::1]:1'])
    expect([origin, (await callFrom(origin)).status]).toEqual([origin, 200])
  for (const origin of ['https://elsewhere.example', 'http://localhost.elsewhere.example', 'null']) {
    const { status, body } = await callFrom(origin)
    const message = 'A web page of another site may not send this request.'
    expect([origin, status, body.error.message]).toEqual([origin, 403, message])
  }
  const preflight = await service.fetch('/mcp', { method: 'OPTIONS' })
  expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'POST'])
})

test('a message that is no JSON or no message gets an error of JSON-RPC', async () => {
  const service = await startTestService()
  const headers = { Authorization: `Bearer ${service.account('ana').key}` }
  for (const message of [
    '',
    '{',
    'null',
    '7',
    '"text"',
    '{}',
    '[{}]',
    '['.repeat(49_000) + ']'.repeat(49_000),
    '{"jsonrpc":"1.0","id":1,"method":"x"}',
  ]) {
    const { status, body } = await post(service, message, headers)
    expect([message.slice(0, 40), status, body.jsonrpc]).toEqual([message.slice(0, 40), 400, '2.0'])
    expect(body.error.code).toBeLessThan(-32_000)
  }
  const large = await post(service, 'x'.repeat(limits.bodyBytesMax + 1), headers)
  expect([large.status, large.body.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  for (const method of ['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD']) {
    const refused = await service.fetch('/mcp', { method, headers })
    expect([method, refused.status, refused.headers.get('allow')]).toEqual([method, 405, 'OPTIONS, POST'])
  }
  for (const method of ['GET', 'DELETE']) expect((await service.fetch('/mcp', { method })).status).toBe(401)
})

test('a compressed message is refused with the same words as elsewhere', async () => {
  const service = await startTestService()
  const { status, headers, body } = await service.fetch('/mcp', {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${service.account('ana').key}`,
      'Content-Type': 'application/json',
      'Content-Encoding': 'gzip',
    },
    body: Bun.gzipSync(JSON.stringify(initialize)),
  })
  expect([status, headers.get('accept-encoding')]).toEqual([415, 'identity'])
  expect(body.error).toMatchObject({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'Send the body as it is, without Content-Encoding.',
  })
})

test('a request that the same body cancels is answered, so that the response ends', async () => {
  const service = await startTestService()
  const headers = { Authorization: `Bearer ${service.account('ana').key}` }
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
  const body = [{ jsonrpc: '2.0', id: 7, method: 'tools/list' }, cancelled]
  const { status, text } = await post(service, body, headers)
  expect(status).toBe(200)
  expect(text).toContain('transcribe_url')
})

test('a caller may send 120 messages a minute, and a tool counts towards the quota of its endpoint', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'search=2' } })
  const ana = service.account('ana')
  const { call } = await connect(service, ana.key)
  await call('search_transcripts', { query: 'a' })
  expect((await ana.get('/v1/search?q=a')).status).toBe(200)
  const refused = await call('search_transcripts', { query: 'a' })
  expect([refused.isError, refused.text]).toEqual([
    true,
    expect.stringMatching(/wait \d+ s .*RATE_LIMIT_EXCEEDED/),
  ])
  const { headers } = await post(service, initialize, { Authorization: `Bearer ${ana.key}` })
  expect(headers.get('x-accel-buffering')).toBe('no')
  expect(headers.get('x-ratelimit-limit')).toBe(`${rates.mcp}`)
  expect(Number(headers.get('x-ratelimit-remaining'))).toBeWithin(rates.mcp - 8, rates.mcp - 3)
})
