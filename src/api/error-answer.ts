// Makes the response to a request for which an error was thrown. Also sends the stored response again to a request that
// repeats an earlier request with the same Idempotency-Key.

import type { AnyElysia } from 'elysia'
import { ApiError } from '../errors.ts'
import { openToAnyOrigin } from './cors.ts'
import { envelope, statusOf, toApiError } from './envelope.ts'
import { freeKey } from './gate/idempotency.ts'
import { endpointHeaders, quotaHeaders } from './gate/quota-answer.ts'
import { Replay } from './gate/request-body.ts'
import type { RequestState } from './gate/request-state.ts'
import { isOAuthPath, oauthAnswer } from './oauth/answers.ts'
import { isOpenAiPath, openAiAnswer } from './openai/errors.ts'
import { missingPage } from './page-answer.ts'
import { pathOf } from './request-url.ts'
import type { Service } from './service.ts'
import { unrouted } from './unrouted.ts'

type Failed = {
  error: unknown
  code: string | number
  set: { status?: number | string; headers: Record<string, string | number> }
  requestState: RequestState
  request: Request
}

/**
 * The status of a request whose client disconnected before the response. It appears only in the log and the metrics.
 * nginx uses the same status.
 */
const clientClosedStatus = 499

/**
 * Converts the error of a request to a response. Returns a Response, or an object that Elysia sends as the JSON body.
 * Sets the status and the headers.
 */
export async function answerError(
  service: Service,
  app: AnyElysia,
  { error, code, set, requestState, request }: Failed,
): Promise<Response | object> {
  if (requestState.claim) freeKey(requestState.claim)
  const thrown = thrownIn(error, code)
  if (thrown instanceof Replay) {
    await service.db.durable()
    set.headers['Idempotent-Replay'] = 'true'
    set.status = 200
    return new Response(thrown.reply, { headers: { 'Content-Type': 'application/json' } })
  }
  if (isClientClosed(thrown, request)) {
    set.status = clientClosedStatus
    return new Response(null, { status: clientClosedStatus })
  }
  // Elysia passes the code NOT_FOUND for an unknown path, and also for an ApiError with this code. Only an unknown path
  // needs the error of `unrouted`.
  const isUnrouted = code === 'NOT_FOUND' && !(thrown instanceof ApiError)
  const answer = toApiError(isUnrouted ? unrouted(app, request) : thrown, code, {
    request_id: requestState.requestId,
  })
  if (answer.code === 'NOT_FOUND' || answer.code === 'METHOD_NOT_ALLOWED') {
    if (!requestState.isCounted) service.rateLimiter.take('ip', requestState.network)
    for (const name of endpointHeaders) delete set.headers[name]
    Object.assign(set.headers, quotaHeaders(service.rateLimiter, null))
  }
  if (answer.code === 'NOT_FOUND') {
    const missing = await missingPage(service, request)
    if (missing) {
      set.status = 404
      return missing
    }
  }
  const { status, headers, body } = shaped(pathOf(request.url), answer, service.baseUrl(request))
  Object.assign(set.headers, headers)
  set.status = status
  return body
}

/** Returns the error that was thrown first. Elysia wraps an error from a check of the body in a ParseError. */
function thrownIn(error: unknown, code: string | number): unknown {
  return code === 'PARSE' && error instanceof Error ? error.cause : error
}

/** Returns true if the error was thrown because the client disconnected. */
function isClientClosed(error: unknown, { signal }: Request): boolean {
  return signal.aborted && error instanceof DOMException && error.name === 'AbortError'
}

/** Returns the response for an error in the format of the path: OpenAI's, OAuth's, or that of this API. */
function shaped(path: string, error: ApiError, baseUrl: string) {
  if (isOpenAiPath(path)) return openAiAnswer(error)
  if (isOAuthPath(path)) return oauthAnswer(path, error)
  const headers = path === '/mcp' ? { ...openToAnyOrigin, ...error.headers } : error.headers
  return { status: statusOf(error.code), headers, body: envelope(error, baseUrl) }
}
