// The details of a route that the OpenAPI document needs in addition to the schemas, and the list of public
// routes.

import type { TObject, TSchema } from '@sinclair/typebox'
import type { AnyElysia, DocumentDecoration } from 'elysia'
import type { RequestErrorCode } from '../errors.ts'
import type { RateName } from '../limits.ts'

export type RouteDetail = {
  summary?: string
  description?: string
  tags?: string[]
  /** The rate limit of the route. gate.ts sets `rate`, `keyed`, `idempotent` and `errors`. */
  rate?: RateName
  /** True if the route needs a credential. */
  keyed?: boolean
  /** True if the route accepts an Idempotency-Key. */
  idempotent?: boolean
  /** The error codes of the checks in gate.ts. */
  errors?: RequestErrorCode[]
  /** The error codes of the handler. */
  fails?: RequestErrorCode[]
  /**
   * The schema of a JSON response that Elysia does not validate, because the handler returns a Response
   * object.
   */
  answer?: TSchema
  /** The content types of responses that are not JSON, with a description of each. */
  otherBodies?: Record<string, string>
  /** The content type of a request body that is a file. */
  requestBytes?: string
  /**
   * The query that the document shows. If it is missing, the document shows the query that the route accepts.
   */
  shownQuery?: TObject
  /** The schema of a request body that is a multipart form. */
  form?: TSchema
  /** The error format of the route. If `dialect` is missing, errors have the envelope of the API. */
  dialect?: 'openai'
  /** The success response. If it is missing, the response has the status 200 and no additional headers. */
  success?: { status: number; description: string; headers?: string[] }
  /** Descriptions of further responses, by status. Errors with an error code are in `errors` and `fails`. */
  also?: Record<number, string>
  /** True if the OpenAPI document does not contain the route. */
  hide?: boolean
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
 * Casts the details of a route to the type that Elysia expects. Elysia also keeps the fields that are
 * missing in its type.
 */
export function about(detail: RouteDetail): DocumentDecoration {
  return detail as DocumentDecoration
}

/** Returns the routes that the OpenAPI document contains. */
export function routesOf(app: AnyElysia): Route[] {
  return (app.routes as unknown as Route[]).filter(({ hooks }) => hooks.detail && !hooks.detail.hide)
}

/** Converts `/v1/upload/:id` to the OpenAPI form `/v1/upload/{id}`. */
export function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}
