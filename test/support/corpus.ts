// Builds requests to every endpoint and parameter in the OpenAPI document. Some requests have values at, below and
// above the limits, or of the wrong type. Others have wrong methods, headers, bodies or ids.

import { limits } from '../../src/limits.ts'

export type CorpusRequest = { method: string; path: string; headers: Record<string, string>; body?: string }

type Schema = {
  type?: string | string[]
  format?: string
  enum?: string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  properties?: Record<string, Schema>
  $ref?: string
}
type Operation = {
  security?: object[]
  parameters?: { in: 'path' | 'query' | 'header'; name: string; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}
export type ApiDocument = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/**
 * The data on the server. The account of `key` has money, the account of `poorKey` has none, and `revokedKey` is
 * revoked. `ids` replace `{id}` in paths.
 */
export type Existing = {
  key: string
  poorKey: string
  revokedKey: string
  /** The path and the query of a signed upload address. */
  uploadPath: string
  ids: readonly string[]
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const hidden = ['/', '/docs', '/v1/openapi.json', '/verify', '/.well-known/oauth-protected-resource']
const unknown = [
  '/v1/balance/',
  '/v1//balance',
  '/V1/balance',
  '/v1/%62alance',
  '/v2',
  '/v1/x/../balance',
  '/x',
]
const oddIds = [
  'x',
  '%00',
  '%zz',
  '%ff%fe',
  '..%2f',
  '00000000-0000-0000-0000-000000000000',
  'a'.repeat(3000),
]
const oddTexts = ['', ' ', '0', 'x'.repeat(600), '💥', '__proto__']
const oddNumbers = ['null', '-1', '1.5', '1e3', '0x10', 'NaN', 'true']
const oddTimes = ['2026-11-20', '2026-11-20T00:00:00Z', '2026-02-31', '2026-11-20T25:00:00Z', '+275760-09-13']
const oddValues = [null, true, false, 0, -1, 1.5, 1e308, '', ' ', 'x', '1', 'true', [], {}, [[1]]]
const oddBodies = [
  '',
  '[',
  '{',
  '{"a"',
  'nul',
  'null',
  '"text"',
  '7',
  '[]',
  '{}',
  '{}{}',
  '\ufeff{}',
  '{"__proto__":{"url":"x"}}',
  '{"constructor":1}',
  '{"unknown":1}',
  '['.repeat(10_000),
  `{"url":"${'x'.repeat(limits.bodyBytesMax)}"}`,
]
const contentTypes = [
  'text/plain',
  'application/json; charset=utf-8',
  'Application/JSON',
  'application/xml',
  'x',
]
const oddHeaders: Record<string, string>[] = [
  { Accept: 'text/html' },
  { Accept: '*/*;q=0' },
  { Range: 'bytes=0-1' },
  { Range: 'bytes=999999999-' },
  { 'If-None-Match': '*' },
  { 'X-Forwarded-For': '192.0.2.1, nonsense' },
  { Cookie: 'a=b; __proto__=c' },
  { 'Accept-Encoding': 'gzip, br' },
  { Expect: '200-ok' },
  { Origin: 'https://elsewhere.example' },
]
const wrongKeys: Record<string, string>[] = [
  {},
  { Authorization: '' },
  { Authorization: 'Bearer' },
  { Authorization: 'Basic YTpi' },
  { Authorization: 'Bearer sk_live_unknown' },
  { 'X-Api-Key': 'sk_live_' },
]
const values: Record<string, unknown[]> = {
  email: ['ana', 'ana@', '@example.org', 'ana@example.org', `${'a'.repeat(65)}@example.org`],
  password: ['short', 'long enough 1'],
  filename: [
    'a',
    'a.exe',
    'a.mp3',
    'a.MP3',
    '../a.mp3',
    'a\u0000.mp3',
    'ä.mp3',
    '.mp3',
    `${'a'.repeat(252)}.mp3`,
  ],
  url: [
    'https:',
    '//a',
    'file:///etc/passwd',
    'http://127.0.0.1/',
    'https://user:pw@a.example/',
    'http://[::1]/a',
  ],
  webhook_url: ['https:', 'ftp://a.example', 'http://127.0.0.1/', 'http://10.0.0.1/', 'http://[::1]/a'],
  language: ['en', 'de', 'EN', 'english', 'xx', 'iw', 'zh-TW'],
}

/**
 * The body of a successful sign-up. `bodyRequests` leaves out all requests with this body. The server would hash a
 * password for each of them, which would take a second of CPU time in all.
 */
const signUp = JSON.stringify({ email: 'ana@example.org', password: 'long enough 1' })

/**
 * Returns all requests. GET and HEAD requests come first, because the jobs of other requests could change their
 * responses. DELETE requests come last.
 */
export function corpus(document: ApiDocument, existing: Existing): CorpusRequest[] {
  const operations = Object.entries(document.paths).flatMap(([template, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => ({
      method: method.toUpperCase(),
      template,
      operation,
      body: bodySchema(document, operation),
    })),
  )
  const key = { Authorization: `Bearer ${existing.key}` }
  const others = [...hidden, ...unknown].flatMap(path =>
    methods.map(method => ({ method, path, headers: key })),
  )
  const requests = [
    ...operations.flatMap(operation => requestsTo(operation, existing)),
    ...others,
    ...sequences(existing),
  ]
  return requests.toSorted((a, b) => rankOf(a) - rankOf(b))
}

function rankOf({ method }: CorpusRequest): number {
  return method === 'GET' || method === 'HEAD' ? 0 : method === 'DELETE' ? 2 : 1
}

/**
 * Returns requests in a fixed order, because a response may depend on earlier requests. For example, an Idempotency-Key
 * is used a second time.
 */
function sequences({ key, poorKey, uploadPath }: Existing): CorpusRequest[] {
  const json = { Authorization: key, 'Content-Type': 'application/json' }
  const path = '/v1/upload'
  const create = (body: string) => ({
    method: 'POST',
    path,
    headers: { ...json, 'Idempotency-Key': 'used' },
    body,
  })
  const put = (type: string) => ({
    method: 'PUT',
    path: uploadPath,
    headers: { 'Content-Type': type },
    body: 'sound',
  })
  return [
    create('{"filename":"a.mp3"}'),
    create('{"filename":"a.mp3"}'),
    create('{"filename":"b.mp3"}'),
    { method: 'POST', path, headers: { ...json, Authorization: poorKey }, body: '{"filename":"a.mp3"}' },
    put('text/plain'),
    put('audio/mpeg'),
    put('audio/mpeg'),
  ]
}

type Endpoint = { method: string; template: string; operation: Operation; body: Schema | null }

function requestsTo({ method, template, operation, body }: Endpoint, existing: Existing): CorpusRequest[] {
  const ids = template.includes('{id}') ? [...existing.ids, ...oddIds] : ['']
  const path = template.replace('{id}', ids[0] ?? '')
  const key = { Authorization: `Bearer ${existing.key}` }
  const json = body ? { ...key, 'Content-Type': 'application/json' } : key
  const valid = body ? '{}' : undefined
  const request = (changes: Partial<CorpusRequest>): CorpusRequest => ({
    method,
    path,
    headers: json,
    ...(valid === undefined ? {} : { body: valid }),
    ...changes,
  })

  return [
    ...queriesOf(operation).map(query => request({ path: `${path}?${query}` })),
    ...[...wrongKeys, { Authorization: existing.revokedKey }].map(headers =>
      request({ headers: { 'Content-Type': 'application/json', ...headers } }),
    ),
    request({ headers: { ...json, Authorization: existing.key.toUpperCase() } }),
    ...oddHeaders.map(headers => request({ headers: { ...json, ...headers } })),
    ...(body ? bodyRequests(body, operation, request) : []),
    ...methods.filter(other => other !== method).map(other => ({ method: other, path, headers: key })),
    ...ids.map(id => request({ path: template.replace('{id}', id) })),
  ]
}

function bodyRequests(
  body: Schema,
  operation: Operation,
  request: (changes: Partial<CorpusRequest>) => CorpusRequest,
): CorpusRequest[] {
  const { headers } = request({})
  const properties = Object.entries(body.properties ?? {})
  // Bodies with only one property.
  const alone = properties.flatMap(([name, schema]) =>
    [true, ...(values[name] ?? []), ...boundsOf(schema)].map(value => ({ [name]: value })),
  )
  const whole = Object.fromEntries(properties.map(([name]) => [name, values[name]?.at(-1) ?? null]))
  // Bodies with all properties. In each body, one property has a tested value.
  const together = properties.flatMap(([name, schema]) =>
    [...new Set([...oddValues, ...(values[name] ?? []), ...boundsOf(schema)])].map(value => ({
      ...whole,
      [name]: value,
    })),
  )
  const idempotencyKeys = ['', ' ', 'a', 'a'.repeat(255), 'a'.repeat(256), 'é', 'a\tb']
  const takesKey = operation.parameters?.some(({ name }) => name === 'Idempotency-Key')
  return [
    ...oddBodies.map(text => request({ body: text })),
    ...contentTypes.map(type => request({ headers: { ...headers, 'Content-Type': type } })),
    ...[...alone, ...together]
      .map(object => JSON.stringify(object))
      .filter(text => text !== signUp)
      .map(text => request({ body: text })),
    ...(takesKey ? idempotencyKeys : []).flatMap(idempotencyKey =>
      ['{}', '{"unknown":1}'].map(text =>
        request({ headers: { ...headers, 'Idempotency-Key': idempotencyKey }, body: text }),
      ),
    ),
  ]
}

function queriesOf({ parameters = [] }: Operation): string[] {
  const asked = parameters.filter(each => each.in === 'query')
  const single = asked.flatMap(({ name, schema }) =>
    [...oddTexts, ...(schema.enum ?? []), ...othersFor(schema), ...boundsOf(schema)].map(
      value => `${name}=${encodeURIComponent(`${value}`)}`,
    ),
  )
  const special = asked.flatMap(({ name }) => [name, `${name}=%zz`, `${name}[]=1`, `${name}=1&${name}=2`])
  return [...single, ...special, 'unknown=1', '__proto__=1', '&&&', '=']
}

/**
 * Returns wrong or unusual times or numbers for a query parameter of this type. Returns none for a parameter of plain
 * text, because every parameter also gets the values of `oddTexts`.
 */
function othersFor({ type, format }: Schema): readonly string[] {
  if (format === 'date-time') return oddTimes
  return type === 'string' ? [] : oddNumbers
}

/**
 * Returns each limit of a schema, and the values one below and one above it. For the length of a text, returns texts of
 * these lengths.
 */
function boundsOf({ minimum, maximum, minLength, maxLength }: Schema): (number | string)[] {
  const around = (bound: number | undefined) => (bound === undefined ? [] : [bound - 1, bound, bound + 1])
  const lengths = [...around(minLength), ...around(maxLength)].filter(length => length >= 0)
  return [...around(minimum), ...around(maximum), ...lengths.map(length => 'x'.repeat(length))]
}

function bodySchema({ components }: ApiDocument, { requestBody }: Operation): Schema | null {
  const schema = requestBody?.content['application/json']?.schema
  return components.schemas[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema ?? null
}
