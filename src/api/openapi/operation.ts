// Describes one route for the OpenAPI document: its parameters, request body, responses and scope.

import type { Scope } from '../../accounts/scope.ts'
import { limits } from '../../limits.ts'
import type { Route, RouteDetail } from '../route.ts'
import type { Components, JsonSchema } from './components.ts'
import { errorResponses, json, otherResponses, successResponse } from './responses.ts'

/** A parameter of an operation, as the plugin @elysiajs/openapi creates it. */
type Parameter = { name: string; in: string; required: boolean; schema: JsonSchema }
type Operation = { parameters?: Parameter[] }

export function operation(route: Route, collected: Operation, components: Components): object {
  const { detail } = route.hooks
  const parameters = [
    ...parametersOf(detail, collected).map(parameter => withFacts(parameter, components)),
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

/**
 * Returns the parameters of a route for the OpenAPI document. The fields of `shownQuery`, if given, replace the query
 * parameters of the route.
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

/**
 * Moves two fields from the schema of a parameter to the parameter itself: `description`, and `needed`, which becomes
 * `required`.
 */
function withFacts({ schema, ...parameter }: Parameter, { reference }: Components): object {
  const { description, needed = parameter.required, ...plain } = reference(schema)
  return { ...parameter, required: needed, description, schema: plain }
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
