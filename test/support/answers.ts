// Checks that a response or event has exactly the shape of its schema. Any missing required field and any undeclared
// field fails the test.

import { expect } from 'bun:test'
import { type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { pendingAccount } from '../../src/api/shapes/accounts.ts'
import { errorBody as apiErrorBody } from '../../src/api/shapes/answer-values.ts'
import { balance } from '../../src/api/shapes/balance.ts'
import { grants } from '../../src/api/shapes/grants.ts'
import { introduction } from '../../src/api/shapes/introduction.ts'
import { cancelled, job } from '../../src/api/shapes/job.ts'
import { health, readiness } from '../../src/api/shapes/ops.ts'
import { session } from '../../src/api/shapes/sessions.ts'
import { accepted } from '../../src/api/shapes/transcribe.ts'
import { page } from '../../src/api/shapes/transcriptions.ts'
import { stored, upload } from '../../src/api/shapes/uploads.ts'
import { events, type JobEvent } from '../../src/jobs/events.ts'

const shapes: Record<string, TSchema> = {
  'GET /v1': introduction,
  'GET /v1/health': health,
  'GET /v1/ready': readiness,
  'GET /v1/balance': balance,
  'POST /v1/accounts': pendingAccount,
  'POST /v1/upload': upload,
  'PUT /v1/upload/{id}': stored,
  'POST /v1/transcribe': accepted,
  'GET /v1/transcribe/{id}': job,
  'POST /v1/transcribe/{id}/cancel': cancelled,
  'GET /v1/transcriptions': page,
  'POST /app/session': session,
  'GET /app/session': session,
  'GET /app/grants': grants,
}

/** The schema of an error of an OAuth endpoint (RFC 6749, section 5.2). */
const oauthErrorBody = Type.Object({ error: Type.String(), error_description: Type.String() })

/**
 * Checks the body of a JSON response, which `read` returns. Calls `read` only if there is a schema for the endpoint and
 * the status.
 */
export function checkAnswer(method: string, path: string, status: number, read: () => unknown): void {
  const [pathname = ''] = path.split('?')
  const route = pathname.replace(/^(\/v1\/(?:upload|transcribe)\/)[^/]+/, '$1{id}')
  const errorBody = pathname.startsWith('/oauth/') ? oauthErrorBody : apiErrorBody
  const schema = status < 400 || pathname === '/v1/ready' ? shapes[`${method} ${route}`] : errorBody
  // A JSON-RPC response of MCP is not checked, because it has no schema. A request that is refused before it reaches
  // MCP gets an error in the format of the API.
  if (!schema || (pathname === '/mcp' && Object.hasOwn(Object(read()), 'jsonrpc'))) return
  checkShape(`${method} ${route}`, schema, read())
}

export function checkEvent(body: { event: string }): void {
  checkShape(body.event, events[body.event as JobEvent], body)
}

/**
 * Checks that the declared fields have the right types, and that the body has no undeclared field. `Value.Clean`
 * removes undeclared fields. So if the cleaned copy differs from the body, the check fails. The function calls `expect`
 * only after a failed check, for its message, because `expect` is slower.
 */
function checkShape(name: string, schema: TSchema, body: unknown): void {
  const text = JSON.stringify(body)
  const cleaned = Value.Clean(schema, JSON.parse(text))
  if (Value.Check(schema, body) && JSON.stringify(cleaned) === text) return
  expect([name, [...Value.Errors(schema, body)]]).toEqual([name, []])
  expect([name, body]).toEqual([name, cleaned])
}
