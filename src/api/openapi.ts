// The OpenAPI 3.1 document, made from the routes the service runs on and from nothing else.

import type { TSchema } from '@sinclair/typebox'
import type { AnyElysia, DocumentDecoration } from 'elysia'
import { keyStart } from '../accounts/key.ts'
import { type RequestErrorCode, requestErrors } from '../errors.ts'
import { events } from '../jobs/events.ts'
import { limits, type RateName } from '../limits.ts'
import { errorBody } from './shapes/answers.ts'

/** What a route says of itself beyond its shapes. The gate adds its part. */
export type RouteDetail = {
  summary?: string
  description?: string
  rate?: RateName
  keyed?: boolean
  idempotent?: boolean
  /** The codes of the gate, and those of the endpoint itself. */
  errors?: RequestErrorCode[]
  fails?: RequestErrorCode[]
  /** The shape of an answer that the handler writes as JSON itself. */
  answer?: TSchema
  /** Bodies that are not JSON, by content type; 'binary' for bytes. */
  otherBodies?: Record<string, string>
  requestBytes?: boolean
  /** The status of success and its own headers, where they are not 200 and none. */
  success?: { status: number; description: string; headers?: Record<string, string> }
  /** What another status of its answer means. */
  also?: Record<number, string>
  hide?: boolean
}

/** Elysia keeps whatever a route says of itself, but knows only the words of OpenAPI. */
export function about(detail: RouteDetail): DocumentDecoration {
  return detail as DocumentDecoration
}

export const commonErrors: RequestErrorCode[] = [
  'FORBIDDEN',
  'RATE_LIMIT_EXCEEDED',
  'METHOD_NOT_ALLOWED',
  'INTERNAL_ERROR',
]
export const authErrors: RequestErrorCode[] = ['INVALID_API_KEY', 'API_KEY_REVOKED']
export const bodyErrors: RequestErrorCode[] = [
  'INVALID_REQUEST',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
]
export const idempotencyErrors: RequestErrorCode[] = ['IDEMPOTENCY_KEY_LOCKED', 'IDEMPOTENCY_KEY_CONFLICT']

type Schema = Record<string, unknown>
type Route = {
  method: string
  path: string
  hooks: {
    body?: TSchema
    query?: TSchema
    params?: TSchema
    response?: Record<string, TSchema>
    detail?: RouteDetail & { tags?: string[] }
  }
}

export const apiVersion = '1.0.0'

export function describe(app: AnyElysia, baseUrl: string): object {
  const components = new Map<string, Schema>()
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routesOf(app)) {
    const path = templateOf(route.path)
    paths[path] ??= {}
    paths[path][route.method.toLowerCase()] = operation(route, components)
  }
  reference(errorBody, components)
  return {
    openapi: '3.1.0',
    info: {
      title: 'steno',
      version: apiVersion,
      description: 'Recorded audio and video in, text with speakers, word times and subtitles out.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    paths,
    webhooks: webhooks(components),
    components: {
      schemas: Object.fromEntries(components),
      headers: headerComponents,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: `Authorization: ${keyStart}…, with or without Bearer`,
        },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      },
    },
  }
}

/** Routes that callers are told of, by path. */
export function routesOf(app: AnyElysia): Route[] {
  return (app.routes as unknown as Route[]).filter(({ hooks }) => hooks.detail && !hooks.detail.hide)
}

function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

function operation(route: Route, components: Map<string, Schema>): object {
  const { hooks } = route
  const detail = hooks.detail!
  const parameters = [
    ...parametersOf(hooks.params, 'path'),
    ...parametersOf(hooks.query, 'query'),
    ...(detail.idempotent ? [idempotencyParameter] : []),
  ]
  return {
    operationId: operationId(route),
    tags: detail.tags ?? [],
    summary: detail.summary,
    ...(detail.description ? { description: detail.description } : {}),
    security: detail.keyed ? [{ bearer: [] }, { apiKey: [] }] : [],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(route, components),
    responses: responses(route, components),
  }
}

function operationId({ method, path }: Route): string {
  const words = path
    .replace(/^\/v1/, '')
    .split(/[^a-zA-Z0-9]+/)
    .filter(word => word !== '')
  return [method.toLowerCase(), ...words]
    .map((word, at) => (at === 0 ? word : word[0]!.toUpperCase() + word.slice(1)))
    .join('')
}

function parametersOf(schema: TSchema | undefined, place: 'path' | 'query'): object[] {
  const required = new Set<string>(schema?.required ?? [])
  return Object.entries((schema?.properties ?? {}) as Record<string, Schema>).map(([name, each]) => {
    const { description, ...plain } = plainSchema(each, new Map())
    return { name, in: place, required: required.has(name), description, schema: plain }
  })
}

function requestBody({ hooks }: Route, components: Map<string, Schema>): object {
  const { body, detail } = hooks
  if (detail?.requestBytes) {
    return {
      requestBody: { required: true, content: { '*/*': { schema: { type: 'string', format: 'binary' } } } },
    }
  }
  if (!body) return {}
  return {
    requestBody: { required: true, content: { 'application/json': { schema: reference(body, components) } } },
  }
}

function responses(route: Route, components: Map<string, Schema>): object {
  const detail = route.hooks.detail!
  const { status, description, headers } = {
    status: 200,
    description: 'Success',
    headers: {},
    ...detail.success,
  }
  const schema = detail.answer ?? route.hooks.response?.[status]
  const content = {
    ...(schema ? { 'application/json': { schema: reference(schema, components) } } : {}),
    ...Object.fromEntries(
      Object.entries(detail.otherBodies ?? {}).map(([type, about]) => [
        type,
        { schema: { type: 'string', description: about } },
      ]),
    ),
  }
  return {
    [status]: {
      description,
      headers: { ...answerHeaders(detail), ...headersOf(headers) },
      ...(Object.keys(content).length > 0 ? { content } : {}),
    },
    ...otherAnswers(route, components),
    ...errorResponses(detail),
  }
}

/** Answers with another status that are no errors: their shape is one of the service's own. */
function otherAnswers({ hooks }: Route, components: Map<string, Schema>): object {
  return Object.fromEntries(
    Object.entries(hooks.detail?.also ?? {}).map(([status, description]) => [
      status,
      {
        description,
        headers: headersOf({ Link: 'Link' }),
        content: { 'application/json': { schema: reference(hooks.response![status]!, components) } },
      },
    ]),
  )
}

/** Codes that share a status stand together; the codes are listed, and `code` stays open for new ones. */
function errorResponses(detail: RouteDetail): object {
  const codes = new Set([...(detail.errors ?? []), ...(detail.fails ?? [])])
  const byStatus = Map.groupBy(codes, code => requestErrors[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map(code => `${code}: ${requestErrors[code].message}`).join(' '),
        headers: { ...answerHeaders(detail), ...headersOf(errorHeaders[status] ?? {}) },
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  )
}

const errorHeaders: Record<number, Record<string, string>> = {
  401: { 'WWW-Authenticate': 'WWWAuthenticate' },
  405: { Allow: 'Allow' },
  409: { 'Retry-After': 'RetryAfter' },
  415: { 'Accept-Post': 'AcceptPost' },
  429: { 'Retry-After': 'RetryAfter' },
}

function answerHeaders({ rate, keyed, idempotent }: RouteDetail): Record<string, object> {
  return headersOf({
    Link: 'Link',
    'RateLimit-Policy': 'RateLimitPolicy',
    ...(rate
      ? {
          'X-RateLimit-Limit': 'XRateLimitLimit',
          'X-RateLimit-Remaining': 'XRateLimitRemaining',
          'X-RateLimit-Reset': 'XRateLimitReset',
        }
      : {}),
    ...(keyed ? { RateLimit: 'RateLimit' } : {}),
    ...(idempotent ? { 'Idempotent-Replay': 'IdempotentReplay' } : {}),
  })
}

function headersOf(names: Record<string, string>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(names).map(([header, component]) => [
      header,
      { $ref: `#/components/headers/${component}` },
    ]),
  )
}

const header = (description: string, type: 'string' | 'integer' = 'string') => ({
  description,
  schema: { type },
})

const headerComponents = {
  Link: header('This document, as rel service-desc'),
  RateLimitPolicy: header('The quotas: endpoint and ip, each with q requests in w seconds'),
  RateLimit: header('What is left of the endpoint quota: r requests, all of them back in t seconds'),
  XRateLimitLimit: header('Requests a minute on this endpoint', 'integer'),
  XRateLimitRemaining: header('Requests left in the window', 'integer'),
  XRateLimitReset: header('Unix time at which the window is empty again', 'integer'),
  RetryAfter: header('Seconds to wait', 'integer'),
  WWWAuthenticate: header('A Bearer challenge'),
  Allow: header('The methods this address takes'),
  AcceptPost: header('The media type a body must have'),
  IdempotentReplay: header('true when the reply is one that was given before'),
  ETag: header('The sha-256 of what was stored'),
}

const idempotencyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key and body within the day are one request',
  schema: { type: 'string', minLength: 1, maxLength: limits.idempotencyKeyLengthMax, pattern: '^[ -~]+$' },
}

function webhooks(components: Map<string, Schema>): object {
  const parameters = ['X-Service-Signature', 'X-Service-Timestamp'].map(name => ({
    name,
    in: 'header',
    required: true,
    schema: { type: 'string' },
  }))
  return Object.fromEntries(
    Object.entries(events).map(([event, schema]) => [
      event,
      {
        post: {
          summary: eventSummaries[event],
          description: signatureRule,
          parameters,
          requestBody: {
            required: true,
            content: { 'application/json': { schema: reference(schema, components) } },
          },
          responses: { 200: { description: 'Anything in the two hundreds; nothing is sent again' } },
        },
      },
    ]),
  )
}

const eventSummaries: Record<string, string> = {
  'transcription.processing': 'The file is good and goes to an engine',
  'transcription.completed': 'The transcript is there',
  'transcription.failed': 'The job ended without a transcript',
}

const signatureRule =
  'X-Service-Signature is the hex HMAC-SHA256 of `timestamp.body`, keyed by the lowercase hex SHA-256 of the API key.'

/** A named schema is written once, among the components. */
function reference(schema: TSchema | Schema, components: Map<string, Schema>): Schema {
  const name = (schema as Schema).$id as string | undefined
  if (!name) return plainSchema(schema as Schema, components)
  if (!components.has(name)) {
    components.set(name, {})
    components.set(name, plainSchema(schema as Schema, components))
  }
  return { $ref: `#/components/schemas/${name}` }
}

/** A schema of TypeBox as JSON Schema: named schemas become references, null becomes a type. */
function plainSchema(schema: Schema, components: Map<string, Schema>): Schema {
  const { $id: _name, noValidate: _unchecked, anyOf, patternProperties, ...plain } = schema
  if (Array.isArray(anyOf)) return { ...plain, ...union(anyOf, components) }
  const resolve = (part: unknown) => reference(part as Schema, components)
  if (plain.properties) plain.properties = mapValues(plain.properties, resolve)
  if (plain.items) plain.items = resolve(plain.items)
  if (patternProperties) plain.additionalProperties = resolve(Object.values(patternProperties)[0])
  return plain
}

function union(choices: Schema[], components: Map<string, Schema>): Schema {
  const [only, ...others] = choices
    .filter(({ type }) => type !== 'null')
    .map(choice => reference(choice, components))
  const isSimple = others.length === 0 && only && typeof only.type === 'string'
  if (isSimple) return { ...only, type: [only.type, 'null'] }
  return { anyOf: choices.map(choice => reference(choice, components)) }
}

function mapValues(record: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
