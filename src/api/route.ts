// The details of a route that the OpenAPI document needs in addition to the schemas. Also lists the documented routes.

import type { TObject, TSchema } from '@sinclair/typebox'
import type { AnyElysia, DocumentDecoration } from 'elysia'
import type { RequestErrorCode } from '../errors.ts'
import type { RateName } from '../limits.ts'

export type RouteDetail = {
  summary?: string
  description?: string
  tags?: string[]
  /**
   * The name of the route's rate limit. The checks in src/api/gate set this field and the fields `keyed`, `idempotent`
   * and `errors`.
   */
  rate?: RateName
  /** True if the route needs a credential. */
  keyed?: boolean
  /** True if the route accepts an Idempotency-Key. */
  idempotent?: boolean
  /** The codes of the errors that the checks before the handler can return. */
  errors?: RequestErrorCode[]
  /** The codes of the errors that the handler of the route can return. */
  fails?: RequestErrorCode[]
  /** The schema of a JSON response that the handler returns as a Response object. Elysia does not validate it. */
  answer?: TSchema
  /**
   * The content types of responses that are not JSON, each with a description. For server-sent events, the value may be
   * the schema of one event's data.
   */
  otherBodies?: Record<string, string | TSchema>
  /** The content type of the request body, if the body is a file. */
  requestBytes?: string
  /** The query parameters in the OpenAPI document. If missing, the document shows the query that the route accepts. */
  shownQuery?: TObject
  /** The schema of the request body, if the body is a multipart form. */
  form?: TSchema
  /**
   * The names of the headers that every response of this route has, except general headers such as Link and RateLimit.
   */
  headers?: string[]
  /**
   * The names of the headers that this route adds to an error response, by error code. Headers that every route adds to
   * this response are left out.
   */
  failHeaders?: Partial<Record<RequestErrorCode, string[]>>
  /** The error format of the route. If missing, errors have the format of the API. */
  dialect?: 'openai'
  /**
   * The success response in the OpenAPI document. `headers` names the headers that only this response has. By default,
   * it has the status 200 and no such headers.
   */
  success?: { status: number; description: string; headers?: string[] }
  /**
   * Descriptions of the other responses, by HTTP status. Such a response is not the success response, and has no error
   * code. An example is the status 304.
   */
  also?: Record<number, string>
  /** True if the OpenAPI document does not contain the route. */
  hide?: boolean
  /** True if the route answers every request with the status 405. `acceptedRoutes` leaves out such a route. */
  refused?: boolean
}

export type Route = {
  method: string
  path: string
  hooks: {
    body?: TSchema
    response?: Record<number, TSchema>
    detail: RouteDetail
  }
}

/**
 * Returns the details of a route unchanged, but with the type that Elysia expects. Elysia keeps the fields that this
 * type lacks, so `routesOf` can read them.
 */
export function about(detail: RouteDetail): DocumentDecoration {
  return detail as DocumentDecoration
}

/** Returns the routes that the OpenAPI document describes. Hidden routes are left out. */
export function routesOf(app: AnyElysia): Route[] {
  return (app.routes as unknown as Route[]).filter(({ hooks }) => hooks.detail && !hooks.detail.hide)
}

/**
 * Returns the methods and paths of the routes, except routes that exist only to refuse a method with the status 405.
 */
export function acceptedRoutes(app: AnyElysia): Pick<Route, 'method' | 'path'>[] {
  return (app.routes as unknown as Route[]).filter(({ hooks }) => !hooks.detail?.refused)
}

/** Converts `/v1/upload/:id` to the OpenAPI form `/v1/upload/{id}`. */
export function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}
