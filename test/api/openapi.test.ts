import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { examples } from '../../src/api/shapes/examples.ts'
import { jobErrors, requestErrors } from '../../src/errors.ts'
import { events } from '../../src/jobs/events.ts'
import { languages } from '../../src/languages.ts'
import { limits } from '../../src/limits.ts'
import { shareServices, sourceOnly, startTestService, steered } from '../support/service.ts'

shareServices()

// biome-ignore lint/suspicious/noExplicitAny: the tests read fields of the document at any depth
type Anything = any

const root = join(import.meta.dir, '../..')

steered('GET /v1 describes the service without a key, to a page of any origin', async () => {
  const service = await startTestService()
  const { status, body, headers } = await service.fetch('/v1')
  expect(status).toBe(200)
  expect(headers.get('access-control-allow-origin')).toBe('*')
  expect(body).toMatchObject({
    name: 'steno',
    authentication: {
      headers: ['Authorization', 'X-Api-Key'],
      bearer_prefix: 'optional',
      oauth_resource_metadata: `${service.url}/.well-known/oauth-protected-resource`,
    },
    rate_limits: { window_seconds: 60, per_address: 300 },
    engine: { model: 'steered' },
  })
  const shown = body.endpoints.map(({ method, path }: Anything) => `${method} ${path}`)
  for (const each of ['POST /v1/upload', 'GET /v1/transcribe/{id}', 'DELETE /v1/transcribe/{id}']) {
    expect(shown).toContain(each)
  }
  expect(body.languages.map(({ code }: Anything) => code)).toEqual([...languages])
  const served = body.languages.filter(({ served }: Anything) => served)
  expect(served.map(({ code }: Anything) => code)).toEqual(['en', 'de', 'jw'])
  const ana = service.account('ana')
  for (const path of ['/v1/balance', '/v1/openapi.json', '/docs']) {
    expect((await ana.get(path)).headers.get('access-control-allow-origin')).toBeNull()
  }
})

// Most tests of the document run only with the source. One test checks that the built program returns the same
// document.
sourceOnly('the document is valid OpenAPI 3.1, needs no key, and all of its references resolve', async () => {
  const document = await readDocument()
  expect(document.openapi).toStartWith('3.1')
  expect(document.info.version).toBe('1.0.0')
  const validation = await new Validator().validate(structuredClone(document))
  expect(validation.errors ?? []).toEqual([])
  expect(validation.valid).toBe(true)

  for (const reference of referencesIn(document)) {
    const target = reference
      .split('/')
      .slice(1)
      .reduce((at: Anything, key) => at?.[key], document)
    expect([reference, target === undefined]).toEqual([reference, false])
  }
  expect(JSON.stringify(document)).not.toContain('nullable')
})

sourceOnly('a field with certain values that may be null has the value null, too', async () => {
  const { TranscribeRequest, Delivery, Transcription } = (await readDocument()).components.schemas
  const { last_outcome: outcome } = Delivery.properties
  const { language, channels } = TranscribeRequest.properties
  for (const { type, anyOf } of [outcome, language, channels])
    expect([type, anyOf]).toEqual([
      undefined,
      [{ type: 'string', enum: expect.arrayContaining([expect.any(String)]) }, { type: 'null' }],
    ])
  expect(channels.description).toStartWith('mix, or split')
  expect(Transcription.properties.channels.enum).toEqual(['mix', 'split'])
})

sourceOnly('the document has every endpoint with its parameters, bounds and errors', async () => {
  const { paths } = await readDocument()
  const operations = Object.entries(paths as Anything).flatMap(([path, methods]: Anything) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  expect(operations.toSorted()).toEqual([
    'DELETE /v1/transcribe/{id}',
    'DELETE /v1/upload/resumable/{id}',
    'DELETE /v1/voices/{id}',
    'GET /v1',
    'GET /v1/balance',
    'GET /v1/health',
    'GET /v1/models',
    'GET /v1/models/{id}',
    'GET /v1/ready',
    'GET /v1/search',
    'GET /v1/transcribe/{id}',
    'GET /v1/transcribe/{id}/audio',
    'GET /v1/transcribe/{id}/events',
    'GET /v1/transcribe/{id}/export',
    'GET /v1/transcribe/{id}/peaks',
    'GET /v1/transcriptions',
    'GET /v1/voices',
    'GET /v1/webhooks/deliveries',
    'HEAD /v1/upload/resumable/{id}',
    'OPTIONS /v1/upload/resumable',
    'PATCH /v1/transcribe/{id}',
    'PATCH /v1/upload/resumable/{id}',
    'POST /v1/accounts',
    'POST /v1/audio/transcriptions',
    'POST /v1/audio/translations',
    'POST /v1/transcribe',
    'POST /v1/transcribe/{id}/cancel',
    'POST /v1/upload',
    'POST /v1/upload/resumable',
    'POST /v1/upload/resumable/{id}',
    'POST /v1/voices',
    'POST /v1/webhooks/deliveries/{id}/redeliver',
    'PUT /v1/upload/{id}',
  ])
  const parameter = (path: string, method: string, name: string): Anything =>
    paths[path][method].parameters.find((each: Anything) => each.name === name)
  expect(parameter('/v1/transcribe/{id}/export', 'get', 'max_words').schema).toMatchObject({
    type: 'integer',
    minimum: limits.cueWords.min,
    maximum: limits.cueWords.max,
    default: limits.cueWords.default,
  })
  expect(parameter('/v1/transcribe/{id}', 'get', 'format').schema.enum).toEqual(['json'])
  const exported = parameter('/v1/transcribe/{id}/export', 'get', 'format')
  expect(exported).toMatchObject({ required: true, schema: { enum: ['srt', 'vtt', 'text'] } })
  expect(parameter('/v1/transcriptions', 'get', 'limit').schema).toMatchObject({
    minimum: 1,
    maximum: 200,
    default: 50,
  })
  const defaults = (path: string): Anything =>
    Object.fromEntries(
      paths[path].get.parameters
        .filter(({ in: place }: Anything) => place === 'query')
        .map(({ name, schema }: Anything) => [name, [schema.type, schema.default]]),
    )
  expect(defaults('/v1/transcribe/{id}')).toEqual({
    format: ['string', 'json'],
    version: ['string', 'current'],
    wait: ['integer', 0],
  })
  expect(defaults('/v1/transcribe/{id}/export')).toEqual({
    format: ['string', undefined],
    max_words: ['integer', limits.cueWords.default],
    max_chars: ['integer', limits.cueChars.default],
    max_duration: ['integer', limits.cueSeconds.default],
    sentence_aware: ['boolean', true],
    include_speakers: ['string', 'auto'],
    strip_chars: ['string', undefined],
    version: ['string', 'current'],
    wait: ['integer', 0],
    include_timestamps: ['boolean', false],
  })
  expect(defaults('/v1/transcriptions')).toEqual({
    status: ['string', undefined],
    from: ['string', undefined],
    to: ['string', undefined],
    limit: ['integer', limits.pageSizeDefault],
    order: ['string', 'desc'],
    cursor: ['string', undefined],
  })
  expect(paths['/v1/ready'].get.responses['503'].content['application/json'].schema).toEqual({
    $ref: '#/components/schemas/Readiness',
  })
  expect(parameter('/v1/upload', 'post', 'Idempotency-Key')).toMatchObject({ in: 'header', required: false })

  const submit = paths['/v1/transcribe'].post
  expect(Object.keys(submit.responses).toSorted()).toEqual(
    [
      '200',
      '400',
      '401',
      '402',
      '403',
      '404',
      '405',
      '409',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
      '507',
    ].toSorted(),
  )
  expect(submit.responses['429'].headers['Retry-After']).toBeDefined()
  expect(submit.responses['200'].headers['Idempotent-Replay']).toBeDefined()
  expect(submit.responses['401'].headers['WWW-Authenticate']).toBeDefined()
  // The error INSUFFICIENT_SCOPE names the missing scope in the header WWW-Authenticate. POST /v1/accounts needs no
  // key, so its 403 has no such header.
  expect(submit.responses['403'].headers['WWW-Authenticate']).toBeDefined()
  expect(paths['/v1/accounts'].post.responses['403'].headers['WWW-Authenticate']).toBeUndefined()
  expect(submit.responses['409'].headers['Retry-After']).toBeDefined()
  // A 409 has Retry-After only for IDEMPOTENCY_KEY_LOCKED, and a 412 has Tus-Version only for
  // TUS_VERSION_NOT_SUPPORTED. An edit has neither of these two errors.
  const { patch: edit } = paths['/v1/transcribe/{id}']
  expect(edit.responses['409'].headers['Retry-After']).toBeUndefined()
  expect(edit.responses['412'].headers['Tus-Version']).toBeUndefined()
  // Every response of a route for resumable uploads names the version of the protocol (Tus-Resumable). Only the 409
  // also names the offset (Upload-Offset).
  const { patch: append } = paths['/v1/upload/resumable/{id}']
  expect(Object.keys(append.responses['409'].headers)).toContain('Upload-Offset')
  expect(Object.keys(append.responses['410'].headers)).toContain('Tus-Resumable')
  expect(Object.keys(append.responses['410'].headers)).not.toContain('Upload-Offset')
  expect(Object.keys(append.responses['204'].headers)).toContain('Tus-Resumable')
  const told = JSON.stringify(paths)
  // These three codes are not in the document. NOT_FOUND is for unknown routes, and INVALID_CREDENTIALS for routes
  // below /app, which are not public. For MODEL_NOT_FOUND, the document has OpenAI's code `model_not_found`.
  const elsewhere = ['NOT_FOUND', 'INVALID_CREDENTIALS', 'MODEL_NOT_FOUND']
  expect(told).toContain('model_not_found: ')
  const codes = Object.keys(requestErrors).filter(code => !elsewhere.includes(code))
  for (const code of codes) expect([code, told.includes(code)]).toEqual([code, true])
})

sourceOnly(
  'the document tells a generated client what files and events are, and which headers they take',
  async () => {
    const { paths } = await readDocument()
    const get = (what: string) => paths[`/v1/transcribe/{id}/${what}`].get
    const typesOf = (content: Anything) =>
      Object.entries(content).map(([type, { schema }]: Anything) => [type, schema.format])
    const media = ['application/octet-stream', 'audio/*', 'video/*'].map(type => [type, 'binary'])
    const { responses } = get('audio')
    expect(typesOf(responses[200].content)).toEqual(media)
    expect(typesOf(responses[206].content)).toEqual(media)
    const { headers } = responses[206]
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(['ETag', 'Accept-Ranges', 'Content-Range']))
    expect(Object.keys(responses[304].headers)).toContain('ETag')
    expect(typesOf(get('peaks').responses[200].content)).toEqual(media.slice(0, 1))
    expect(typesOf(get('export').responses[200].content)).toEqual([
      ['text/plain', undefined],
      ['text/vtt', undefined],
    ])
    expect(get('events').responses[200].content['text/event-stream'].schema.anyOf).toEqual([
      { $ref: '#/components/schemas/ListedTranscription' },
      { $ref: '#/components/schemas/SegmentEvent' },
    ])
    const headersOf = ({ parameters }: Anything) =>
      parameters.filter((each: Anything) => each.in === 'header').map(({ name }: Anything) => name)
    expect(headersOf(get('audio'))).toEqual(['range', 'if-range', 'if-none-match'])
    expect(headersOf(get('events'))).toEqual(['last-event-id'])
  },
)

sourceOnly('the document lists the error codes of jobs, and the CORS headers of GET /v1', async () => {
  const { components, paths } = await readDocument()
  expect(components.schemas.JobError.properties.code.enum).toEqual(Object.keys(jobErrors))
  const { headers } = paths['/v1'].get.responses['200']
  expect(headers).toMatchObject({
    'Access-Control-Allow-Origin': { $ref: '#/components/headers/AccessControlAllowOrigin' },
    'Access-Control-Expose-Headers': { $ref: '#/components/headers/AccessControlExposeHeaders' },
  })
})

test('a response has the headers that the document lists', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'on' } })
  const ana = service.account('ana')
  const { paths } = await readDocument()
  const plain = ['', '/health', '/balance', '/models', '/transcriptions', '/voices', '/webhooks/deliveries']
  for (const path of plain.map(end => `/v1${end}`)) {
    const { status, headers } = await ana.get(path)
    const listed = Object.keys(paths[path].get.responses[status].headers)
    expect(listed).toContain('X-Request-Id')
    expect([path, listed.filter(name => !headers.has(name))]).toEqual([path, []])
  }
})

sourceOnly('the document has every event with its fields', async () => {
  const { webhooks, components } = await readDocument()
  expect(Object.keys(webhooks)).toEqual([
    'transcription.processing',
    'transcription.completed',
    'transcription.failed',
  ])
  expect(Object.keys(components.schemas.CompletedEvent.properties)).toEqual([
    'event',
    'transcription_id',
    'metadata',
    'status',
    'duration_seconds',
    'cost_cents',
    'result',
  ])
})

sourceOnly(
  'an example is shown for each answer and each JSON body, and has the shape of its schema',
  async () => {
    const { paths, webhooks, components } = await readDocument()
    const operations: Anything[] = [paths, webhooks].flatMap(each =>
      Object.values(each as Anything).flatMap(methods => Object.values(methods as Anything)),
    )
    const bodies = operations.flatMap(({ requestBody, responses }) =>
      [requestBody, ...Object.values(responses as Anything)].map(
        (each: Anything) => each?.content?.['application/json'],
      ),
    )
    const names = bodies.flatMap(body => body?.schema.$ref?.split('/').at(-1) ?? [])
    expect(names).toContain('CompletedEvent')
    const shown = new Set(names.filter(name => !['Introduction', 'OpenAiError'].includes(name)))
    for (const name of shown) expect([name, components.schemas[name].examples?.length]).toEqual([name, 1])

    const folders = ['src/api/shapes', 'src/api/openai/shapes'].map(folder => join(root, folder))
    const shapes = folders.flatMap(folder => readdirSync(folder).map(name => join(folder, name)))
    const files = await Promise.all(shapes.map(path => import(path)))
    const known = [...files, events].flatMap(each => Object.values(each) as TSchema[])
    for (const [name, example] of Object.entries(examples)) {
      const schema = known.find(({ $id }) => $id === name)
      expect([name, schema ? [...Value.Errors(schema, example)] : 'unknown']).toEqual([name, []])
    }
  },
)

sourceOnly('formats and patterns tell what an id, an address, a file name and a time look like', async () => {
  const { components, paths, webhooks } = await readDocument()
  const { UploadRequest, TranscribeRequest, AccountRequest, Transcription } = components.schemas
  const filename = new RegExp(UploadRequest.properties.filename.pattern)
  for (const good of ['talk.mp3', 'My talk (1).FLAC', 'a.b.wav', 'a..mp3', '.a.mp3'])
    expect(good).toMatch(filename)
  for (const bad of ['talk', '.mp3', '...mp3', 'a/b.mp3', "it's.mp3", 'a.exe', 'müll.mp3', 'a\n.mp3'])
    expect(bad).not.toMatch(filename)
  expect(JSON.stringify(TranscribeRequest.properties.url)).toContain('"format":"uri"')
  expect(JSON.stringify(TranscribeRequest.properties.language)).toContain('"yue"')
  expect(AccountRequest.properties.email.format).toBe('email')
  expect(Transcription.properties.id.format).toBe('uuid')
  const [from] = paths['/v1/transcriptions'].get.parameters.filter(({ name }: Anything) => name === 'from')
  expect(from.schema).toEqual({ type: 'string', format: 'date-time' })
  expect(webhooks['transcription.completed'].post.operationId).toBe('onTranscriptionCompleted')
})

sourceOnly('only schemas of requests are closed, also after the service has answered requests', async () => {
  const service = await startTestService({ alone: true })
  const ana = await service.account('ana')
  await ana.transcribe()
  await ana.balance()
  const { components } = (await service.fetch('/v1/openapi.json')).body
  const closed = Object.entries<Anything>(components.schemas).filter(([, schema]) =>
    JSON.stringify(schema).includes('"additionalProperties":false'),
  )
  expect(closed.map(([name]) => name).toSorted()).toEqual([
    'AccountRequest',
    'EditRequest',
    'TranscribeRequest',
    'UploadRequest',
    'VoiceRequest',
  ])
})

test('the built program serves the document of the source code', async () => {
  const settings = { STENO_RATE_LIMITS: 'off' }
  const services = [
    await startTestService({ settings }),
    await startTestService({ settings, program: null, alone: true }),
  ]
  const [served, expected] = await Promise.all(
    services.map(async ({ url, fetch }) => (await fetch('/v1/openapi.json')).text.replaceAll(url, '')),
  )
  expect(served).toBe(expected ?? '')
})

test('/docs loads nothing from a network, and has an anchor for every error', async () => {
  const service = await startTestService()
  const { text, headers } = await service.fetch('/docs')
  expect(headers.get('content-type')).toContain('text/html')
  expect(text.match(/(?:src|href)="(?!#|\/v1|\/")[^"]*"/g) ?? []).toEqual([])
  for (const code of [...Object.keys(requestErrors), ...Object.keys(jobErrors)]) {
    expect(text).toContain(`id="${code}"`)
  }
  const { body } = await service.fetch('/v1/balance')
  expect(body.error.docs_url).toBe(`${service.url}/docs#INVALID_API_KEY`)
  expect((await service.account('ana').balance()).deposit_url).toBe(`${service.url}/docs#deposits`)
  expect(text).toContain('id="deposits"')
})

test('the address in a challenge answers with the metadata of the resource', async () => {
  const service = await startTestService()
  const challenge = (await service.fetch('/v1/balance')).headers.get('www-authenticate') ?? ''
  const [, pointer = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? []
  const { status, body } = await service.fetch(new URL(pointer).pathname)
  expect(status).toBe(200)
  expect(body).toMatchObject({ resource: service.url, bearer_methods_supported: ['header'] })
})

test('the root redirects to the docs', async () => {
  const service = await startTestService()
  const { status, headers } = await service.fetch('/')
  expect([status, headers.get('location')]).toEqual([302, `${service.url}/docs`])
})

async function readDocument(): Promise<Anything> {
  const service = await startTestService()
  const { status, body } = await service.fetch('/v1/openapi.json')
  expect(status).toBe(200)
  return body
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) =>
    key === '$ref' ? [each as string] : referencesIn(each),
  )
}
