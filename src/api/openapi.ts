// Builds the OpenAPI 3.1 document. The plugin @elysiajs/openapi collects the routes and their parameters. This file
// adds the headers, errors, request bodies, security schemes and webhooks.

import { toOpenAPISchema } from '@elysiajs/openapi/openapi'
import type { AnyElysia } from 'elysia'
import type { Scope } from '../accounts/grant.ts'
import { keyStart } from '../accounts/key.ts'
import { limits } from '../limits.ts'
import { type Components, type JsonSchema, openComponents, version } from './components.ts'
import { headerComponents } from './openapi-headers.ts'
import { errorResponses, json, otherResponses, successResponse } from './openapi-responses.ts'
import { webhooks } from './openapi-webhooks.ts'
import { type Route, type RouteDetail, routesOf, templateOf } from './route.ts'
import { errorBody } from './shapes/answer-values.ts'
import { segment } from './shapes/job.ts'
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
      headers: headerComponents(),
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
 * Returns the parameters of a route for the OpenAPI document. If the route has a `shownQuery`, the fields of
 * `shownQuery` replace the query parameters that the route accepts.
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

/** Moves the description of a parameter from the schema of the parameter to the parameter itself. */
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

const idempotencyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key and body within the day are one request',
  schema: { type: 'string', minLength: 1, maxLength: limits.idempotencyKeyLengthMax, pattern: '^[ -~]+$' },
}
