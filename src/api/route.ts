// The details that a route declares in addition to its schemas, and the list of public routes.

import type { TSchema } from '@sinclair/typebox'
import type { AnyElysia, DocumentDecoration } from 'elysia'
import type { RequestErrorCode } from '../errors.ts'
import type { RateName } from '../limits.ts'

export type RouteDetail = {
  summary?: string
  description?: string
  tags?: string[]
  /** The gate sets the next four fields. */
  rate?: RateName
  keyed?: boolean
  idempotent?: boolean
  errors?: RequestErrorCode[]
  /** The error codes that only this endpoint returns. */
  fails?: RequestErrorCode[]
  /** The schema of a response that the handler writes as JSON itself. */
  answer?: TSchema
  /** Responses that are not JSON: a description for each content type. */
  otherBodies?: Record<string, string>
  /** The request body is a file. */
  requestBytes?: boolean
  /** The success response, unless it is 200 without its own headers. */
  success?: { status: number; description: string; headers?: string[] }
  /** Descriptions of other statuses that have their own schema. */
  also?: Record<number, string>
  /** The route is left out of the OpenAPI document. */
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

/** Casts the detail: Elysia keeps every field, but its type has only the fields of OpenAPI. */
export function about(detail: RouteDetail): DocumentDecoration {
  return detail as DocumentDecoration
}

/** Returns the routes that are in the OpenAPI document. */
export function routesOf(app: AnyElysia): Route[] {
  return (app.routes as unknown as Route[]).filter(({ hooks }) => hooks.detail && !hooks.detail.hide)
}

/** Converts `/v1/upload/:id` to the OpenAPI form `/v1/upload/{id}`. */
export function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}
