// Builds the OpenAPI 3.1 document. The plugin @elysiajs/openapi collects the routes and their parameters. This file
// adds the headers, errors, request bodies, security schemes and webhooks.

import { toOpenAPISchema } from '@elysiajs/openapi/openapi'
import type { AnyElysia } from 'elysia'
import type { Scope } from '../accounts/grant.ts'
import { keyStart } from '../accounts/key.ts'
import { requestErrors } from '../errors.ts'
import { limits } from '../limits.ts'
import { type Components, type JsonSchema, openComponents, version } from './components.ts'
import { openAiFactsOf } from './openai/errors.ts'
import { openAiError } from './openai/shapes.ts'
import { webhooks } from './openapi-webhooks.ts'
import { type Route, type RouteDetail, routesOf, templateOf } from './route.ts'
import { errorBody, segment } from './shapes/answers.ts'
import { apiVersion } from './version.ts'

export function describe(app: AnyElysia, baseUrl: string): object {
  const components = openComponents()
  const { paths } = toOpenAPISchema(app, {}, undefined, undefined, version) as unknown as Collected
  for (const route of routesOf(app)) {
    const methods = paths[templateOf(route.path)] ?? {}
    const method = route.method.toLowerCase()
    methods[method] = operation(route, methods[method] ?? {}, components)
  }
  components.reference(errorBody)
  components.reference(segment)
  return {
    openapi: version,
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
      schemas: components.schemas,
      headers: Object.fromEntries(
        Object.entries(headerTable).map(([name, { type = 'string', description }]) => [
          componentOf(name),
          { description, schema: { type } },
        ]),
      ),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: `Authorization: ${keyStart}…, with or without Bearer`,
        },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
        oauth: {
          type: 'oauth2',
          description: 'Access tokens for programs that act for an account',
          flows: {
            authorizationCode: {
              authorizationUrl: `${baseUrl}/oauth/authorize`,
              tokenUrl: `${baseUrl}/oauth/token`,
              refreshUrl: `${baseUrl}/oauth/token`,
              scopes: scopeMeanings,
            },
          },
        },
      },
    },
  }
}

/** A parameter of an operation, as the plugin @elysiajs/openapi creates it. */
type Parameter = { name: string; in: string; required: boolean; schema: JsonSchema }
type Operation = { parameters?: Parameter[] }
type Collected = { paths: Record<string, Record<string, object>> }

function operation(route: Route, collected: Operation, components: Components): object {
  const { detail } = route.hooks
  const parameters = [
    ...parametersOf(detail, collected).map(parameter => withDescription(parameter, components)),
    ...(detail.idempotent ? [idempotencyParameter] : []),
  ]
  return {
    operationId: operationId(route),
    tags: detail.tags ?? [],
    summary: detail.summary,
    ...(detail.description ? { description: detail.description } : {}),
    security: detail.keyed ? [{ bearer: [] }, { apiKey: [] }, { oauth: [scopeOf(route)] }] : [],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(route, components),
    responses: {
      ...successResponse(route, components),
      ...otherResponses(route, components),
      ...errorResponses(detail, components),
    },
  }
}

/** Converts `POST /v1/transcribe/:id/cancel` to `postTranscribeIdCancel`. */
function operationId({ method, path }: Route): string {
  const rest = path.replace(/^\/v1/, '')
  return method.toLowerCase() + rest.replace(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Returns the scope that an access token needs for a route. */
function scopeOf({ method }: Route): Scope {
  return ['GET', 'HEAD'].includes(method) ? 'read' : 'write'
}

const scopeMeanings: Record<Scope, string> = {
  read: 'Read transcriptions, transcripts and the balance',
  write: 'Start, change, cancel and delete transcriptions',
}

/**
 * Returns the parameters of a route. If the route has a `shownQuery`, the parameters in the query are those of
 * `shownQuery`.
 */
function parametersOf({ shownQuery }: RouteDetail, { parameters = [] }: Operation): Parameter[] {
  if (!shownQuery) return parameters
  const required = new Set(shownQuery.required)
  const shown = Object.entries(shownQuery.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.has(name),
    schema,
  }))
  return [...parameters.filter(parameter => parameter.in !== 'query'), ...shown]
}

/** Moves the description from the schema of a parameter to the parameter. */
function withDescription({ schema, ...parameter }: Parameter, { reference }: Components): object {
  const { description, ...plain } = reference(schema)
  return { ...parameter, description, schema: plain }
}

function requestBody({ hooks: { body, detail } }: Route, { reference }: Components): object {
  if (body) return { requestBody: { required: true, content: json(reference(body)) } }
  if (detail.form) {
    const content = { 'multipart/form-data': { schema: reference(detail.form) } }
    return { requestBody: { required: true, content } }
  }
  if (!detail.requestBytes) return {}
  const content = { [detail.requestBytes]: { schema: { type: 'string', format: 'binary' } } }
  return { requestBody: { required: true, content } }
}

function successResponse({ hooks: { response, detail } }: Route, { reference }: Components): object {
  const { status, description, headers } = detail.success ?? { status: 200, description: 'Success' }
  const shape = detail.answer ?? response?.[status]
  const others = Object.entries(detail.otherBodies ?? {}).map(([type, description]) => [
    type,
    { schema: { type: 'string', description } },
  ])
  const content = { ...(shape ? json(reference(shape)) : {}), ...Object.fromEntries(others) }
  return {
    [status]: {
      description,
      headers: headersOf([...answerHeaders(detail), ...(headers ?? [])]),
      ...(Object.keys(content).length > 0 ? { content } : {}),
    },
  }
}

/** Returns the responses that are neither a success nor an error with an error code. */
function otherResponses({ hooks: { response, detail } }: Route, { reference }: Components): object {
  return Object.fromEntries(
    Object.entries(detail.also ?? {}).map(([status, description]) => {
      const shape = response?.[Number(status)]
      const content = shape ? { content: json(reference(shape)) } : {}
      return [status, { description, headers: headersOf(['Link']), ...content }]
    }),
  )
}

/**
 * Returns the error responses of a route. Errors of the same status are one response, whose description lists their
 * codes.
 */
function errorResponses(detail: RouteDetail, { reference }: Components): object {
  const shape = detail.dialect === 'openai' ? openAiError : errorBody
  const errors = [...new Set([...(detail.errors ?? []), ...(detail.fails ?? [])])].map(code => {
    const facts = detail.dialect === 'openai' ? openAiFactsOf(code) : requestErrors[code]
    const name = 'reason' in facts ? facts.reason : code
    return { status: facts.status, text: `${name ? `${name}: ` : ''}${requestErrors[code].message}` }
  })
  return Object.fromEntries(
    [...Map.groupBy(errors, ({ status }) => status)].map(([status, same]) => [
      status,
      {
        description: [...new Set(same.map(({ text }) => text))].join(' '),
        headers: headersOf([...answerHeaders(detail), ...(errorHeaders[status] ?? [])]),
        content: json(reference(shape)),
      },
    ]),
  )
}

function json(schema: object): object {
  return { 'application/json': { schema } }
}

const headerTable: Record<string, { type?: 'integer'; description: string }> = {
  Link: { description: 'This document, as rel service-desc' },
  'RateLimit-Policy': { description: 'The quotas: endpoint and ip, each with q requests in w seconds' },
  RateLimit: {
    description: 'What is left of the endpoint quota: r requests, all of them back in t seconds',
  },
  'X-RateLimit-Limit': { type: 'integer', description: 'Requests a minute on this endpoint' },
  'X-RateLimit-Remaining': { type: 'integer', description: 'Requests left in the window' },
  'X-RateLimit-Reset': { type: 'integer', description: 'Unix time at which the window is empty again' },
  'Retry-After': { type: 'integer', description: 'Seconds to wait' },
  'WWW-Authenticate': { description: 'A Bearer challenge' },
  Allow: { description: 'The methods this address takes' },
  'Accept-Post': { description: 'The media type a body must have' },
  'Idempotent-Replay': { description: 'true when the reply is one that was given before' },
  'Tus-Resumable': { description: 'The version of the tus protocol' },
  'Tus-Version': { description: 'The versions of the tus protocol that are served' },
  'Tus-Extension': { description: 'The extensions of the tus protocol that are served' },
  'Tus-Max-Size': { type: 'integer', description: 'The largest file in bytes' },
  'Upload-Id': { description: 'The upload_id of POST /v1/transcribe' },
  'Upload-Offset': { type: 'integer', description: 'How many bytes have arrived' },
  'Upload-Length': { type: 'integer', description: 'The size of the file in bytes' },
  'Upload-Expires': { description: 'When the upload expires, if no more bytes arrive' },
  Location: { description: 'The address of what was created' },
  'Accept-Ranges': { description: 'bytes: parts of the file can be asked for with Range' },
  'Content-Range': { description: 'Which bytes these are, or the size of the file' },
  ETag: { description: 'Changes when the content changes' },
  'Access-Control-Allow-Origin': { description: '*: a page of any origin may read this answer' },
  'Access-Control-Expose-Headers': { description: '*: and all of its headers' },
}

const errorHeaders: Record<number, string[]> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  409: ['Retry-After'],
  412: ['Tus-Version'],
  415: ['Accept-Post'],
  416: ['Content-Range'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

function answerHeaders({ rate, keyed, idempotent }: RouteDetail): string[] {
  return [
    'Link',
    'RateLimit-Policy',
    ...(rate ? ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] : []),
    ...(keyed && rate ? ['RateLimit'] : []),
    ...(idempotent ? ['Idempotent-Replay'] : []),
  ]
}

function headersOf(names: string[]): object {
  return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${componentOf(name)}` }]))
}

function componentOf(header: string): string {
  return header.replaceAll('-', '')
}

const idempotencyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key and body within the day are one request',
  schema: { type: 'string', minLength: 1, maxLength: limits.idempotencyKeyLengthMax, pattern: '^[ -~]+$' },
}
