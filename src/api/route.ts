// The details that a route declares beside its shapes, and the list of public routes.

import type { TSchema } from '@sinclair/typebox'
import type { AnyElysia, DocumentDecoration } from 'elysia'
import type { RequestErrorCode } from '../errors.ts'
import type { RateName } from '../limits.ts'

export type RouteDetail = {
  summary?: string
  description?: string
  tags?: string[]
  /** The gate sets these four. */
  rate?: RateName
  keyed?: boolean
  idempotent?: boolean
  errors?: RequestErrorCode[]
  /** The error codes of the endpoint itself. */
  fails?: RequestErrorCode[]
  /** The shape of an answer that the handler writes as JSON itself. */
  answer?: TSchema
  /** Answers that are not JSON: descriptions by content type. */
  otherBodies?: Record<string, string>
  /** The request body is a file. */
  requestBytes?: boolean
  /** The answer of success, unless it is 200 and has no headers of its own. */
  success?: { status: number; description: string; headers?: string[] }
  /** Descriptions of other statuses that carry a shape of their own. */
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

/** Elysia keeps every field of a route's detail, but its type knows only those of OpenAPI. */
export function about(detail: RouteDetail): DocumentDecoration {
  return detail as DocumentDecoration
}

/** The routes of the OpenAPI document. */
export function routesOf(app: AnyElysia): Route[] {
  return (app.routes as unknown as Route[]).filter(({ hooks }) => hooks.detail && !hooks.detail.hide)
}

/** `/v1/upload/:id` as OpenAPI writes it: `/v1/upload/{id}`. */
export function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}
