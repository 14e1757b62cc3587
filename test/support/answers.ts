// Checks that a response or event has exactly the shape in the OpenAPI document. A missing field fails the test. A
// field that the document does not declare fails the test too.

import { expect } from 'bun:test'
import { type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import * as answers from '../../src/api/shapes/answers.ts'
import { events, type JobEvent } from '../../src/jobs/events.ts'

const shapes: Record<string, TSchema> = {
  'GET /v1': answers.introduction,
  'GET /v1/health': answers.health,
  'GET /v1/ready': answers.readiness,
  'GET /v1/balance': answers.balance,
  'POST /v1/accounts': answers.pendingAccount,
  'POST /v1/upload': answers.upload,
  'PUT /v1/upload/{id}': answers.stored,
  'POST /v1/transcribe': answers.accepted,
  'GET /v1/transcribe/{id}': answers.job,
  'POST /v1/transcribe/{id}/cancel': answers.cancelled,
  'GET /v1/transcriptions': answers.page,
  'POST /app/session': answers.session,
  'GET /app/session': answers.session,
  'GET /app/grants': answers.grants,
}

/** The schema of an error of an OAuth endpoint (RFC 6749, section 5.2). */
const oauthErrorBody = Type.Object({ error: Type.String(), error_description: Type.String() })

export function checkAnswer(method: string, path: string, status: number, body: unknown): void {
  const [pathname = ''] = path.split('?')
  const route = pathname.replace(/^(\/v1\/(?:upload|transcribe)\/)[^/]+/, '$1{id}')
  // A JSON-RPC response of the MCP endpoint has no declared shape, so it is not checked. Only if the request was
  // refused before it reached MCP, the response is an error in the format of the API.
  if (pathname === '/mcp' && Object.hasOwn(Object(body), 'jsonrpc')) return
  const errorBody = pathname.startsWith('/oauth/') ? oauthErrorBody : answers.errorBody
  const schema = status < 400 || pathname === '/v1/ready' ? shapes[`${method} ${route}`] : errorBody
  if (schema) checkShape(`${method} ${route}`, schema, body)
}

export function checkEvent(body: { event: string }): void {
  checkShape(body.event, events[body.event as JobEvent], body)
}

/**
 * Checks the types of the declared fields, and that the body has no other fields: `Value.Clean` removes undeclared
 * fields, so the cleaned copy must be equal to the body.
 */
function checkShape(name: string, schema: TSchema, body: unknown): void {
  expect([name, [...Value.Errors(schema, body)]]).toEqual([name, []])
  expect([name, body]).toEqual([name, Value.Clean(schema, structuredClone(body))])
}
