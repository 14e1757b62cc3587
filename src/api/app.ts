// The HTTP application: its routes, and the hooks that run for every route.

import { type AnyElysia, Elysia } from 'elysia'
import { ApiError } from '../errors.ts'
import { logAccess } from './access-log.ts'
import { accounts } from './accounts.ts'
import { balance } from './balance.ts'
import { callerIp, networkOf } from './client-ip.ts'
import { deliveries } from './deliveries.ts'
import { envelope, statusOf, toApiError } from './envelope.ts'
import { events } from './events.ts'
import { grants } from './grants.ts'
import { freeKey } from './idempotency.ts'
import { introduction } from './introduction.ts'
import { mcp } from './mcp/endpoint.ts'
import { media } from './media.ts'
import { isOAuthPath, oauthAnswer, openToAnyOrigin } from './oauth/answers.ts'
import { oauth } from './oauth/routes.ts'
import { audio } from './openai/audio.ts'
import { isOpenAiPath, openAiAnswer } from './openai/errors.ts'
import { models } from './openai/models.ts'
import { operator } from './operator.ts'
import { ops } from './ops.ts'
import { ownAccount } from './own-account.ts'
import { ownKeys } from './own-keys.ts'
import { page } from './page.ts'
import { missingPage } from './page-answer.ts'
import { quotaHeaders } from './quota-answer.ts'
import { Replay } from './request-body.ts'
import { methodName, openRequestCounters } from './request-counters.ts'
import { openRequestLog, type RequestLog } from './request-log.ts'
import { emptyState } from './request-state.ts'
import { resumable } from './resumable.ts'
import { search } from './search.ts'
import type { Service } from './service.ts'
import { sessions } from './sessions.ts'
import { transcribe } from './transcribe.ts'
import { transcriptions } from './transcriptions.ts'
import { uploads } from './uploads.ts'
import { voices } from './voices.ts'
import { workerModels } from './worker-models.ts'
import { workers } from './workers.ts'

export function openApp(service: Service): AnyElysia {
  const { config, metrics } = service
  const requestIds = requestIdMaker()
  const counters = openRequestCounters(metrics)
  const requestLog = openRequestLog()

  const app: AnyElysia = new Elysia({
    // By default, Elysia removes unknown fields from a request. With this option, unknown fields stay, so that the
    // validation refuses them.
    normalize: false,
    // A path with a slash at its end is a different path: /v1/balance/ does not exist.
    strictPath: true,
    serve: {
      reusePort: false,
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      idleTimeout: config.requestIdleMs / 1000,
      // In development mode, Bun's error page would show file paths and source code to callers.
      development: false,
      error(error) {
        const answer = toApiError(error, 'UNKNOWN', '')
        return Response.json(envelope(answer, service.baseUrl()), {
          status: statusOf(answer.code),
          headers: { Link: linkTo(service.baseUrl()), ...quotaHeaders(service.rateLimiter, null) },
        })
      },
    },
  })
    .decorate('requestState', emptyState)

    .onRequest(context => {
      const { request, server, set } = context
      const peer = server?.requestIP(request)?.address ?? ''
      const ip = callerIp(peer, request.headers.get('x-forwarded-for'), config.trustProxy)
      const requestId = requestIds()
      const network = networkOf(ip)
      context.requestState = { ...emptyState, requestId, startedAt: performance.now(), ip, network }
      set.headers.Link = linkTo(service.baseUrl(request))
      set.headers['X-Request-Id'] = requestId
      if (config.denyIps.has(ip)) {
        Object.assign(set.headers, quotaHeaders(service.rateLimiter, null))
        throw new ApiError('FORBIDDEN')
      }
      // Without this check, Elysia would call the GET handler for a HEAD request.
      if (request.method === 'HEAD' && !listMethods(app, pathOf(request.url)).includes('HEAD'))
        throw unrouted(app, request)
    })

    .onError(async ({ error, code, set, requestState, request }) => {
      if (requestState.claim) freeKey(requestState.claim)
      const replay = error instanceof Error && error.cause instanceof Replay ? error.cause : null
      if (replay) {
        await service.db.durable()
        set.headers['Idempotent-Replay'] = 'true'
        set.status = 200
        return new Response(replay.reply, { headers: { 'Content-Type': 'application/json' } })
      }
      const answer = toApiError(
        code === 'NOT_FOUND' ? unrouted(app, request) : error,
        code,
        requestState.requestId,
      )
      if (answer.code === 'NOT_FOUND' || answer.code === 'METHOD_NOT_ALLOWED') {
        service.rateLimiter.take('ip', requestState.network)
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
    })

    // All database changes of a request are flushed to the disk before the response is sent.
    .onAfterHandle(async ({ request }) => {
      if (request.method !== 'GET') await service.db.durable()
    })

    .onAfterResponse(({ request, route, params, set, requestState }) => {
      const shownRoute = route ?? 'none'
      const ms = performance.now() - requestState.startedAt
      const status = Number(set.status ?? 200)
      counters.count(shownRoute, request.method, status, ms / 1000)
      const { id } = (params ?? {}) as { id?: string }
      logAccess(requestState, { method: methodName(request.method), route: shownRoute, status, ms, id })
      requestLog.add({
        at: service.db.now(),
        method: methodName(request.method),
        route: shownRoute,
        status,
        ms: Math.round(ms),
        accountId: requestState.caller?.accountId ?? null,
      })
    })

    .use(introduction(service, () => app))
    .use(accounts(service))
    .use(balance(service))
    .use(resumable(service))
    .use(uploads(service))
    .use(transcribe(service))
    .use(events(service))
    .use(media(service))
    .use(deliveries(service))
    .use(transcriptions(service))
    .use(search(service))
    .use(voices(service))
    .use(audio(service))
    .use(models(service))
    .use(ops(service))
    .use(service.fleet ? workers(service, service.fleet) : new Elysia())
    .use(service.fleet ? workerModels(service, service.fleet) : new Elysia())
    .use(oauth(service))
    .use(mcp(service))
    .use(page(service))
    // The routes below /app, which the web app uses.
    .use(config.dashboard ? dashboard(service, requestLog) : new Elysia())

  return app
}

/**
 * Returns the response for an error. The error format depends on the path: OpenAI's format, OAuth's format, or the
 * format of this API.
 */
function shaped(path: string, error: ApiError, baseUrl: string) {
  if (isOpenAiPath(path)) return openAiAnswer(error)
  if (isOAuthPath(path)) return oauthAnswer(path, error)
  const headers = path === '/mcp' ? { ...openToAnyOrigin, ...error.headers } : error.headers
  return { status: statusOf(error.code), headers, body: envelope(error, baseUrl) }
}

/** The routes that the web app uses. They accept only the cookie of a session as the credential. */
function dashboard(service: Service, requestLog: RequestLog) {
  return new Elysia()
    .use(sessions(service))
    .use(grants(service))
    .use(ownKeys(service))
    .use(ownAccount(service))
    .use(operator(service, requestLog))
}

/**
 * Returns the error for a request that matches no route: NOT_FOUND for an unknown path, METHOD_NOT_ALLOWED for a known
 * path with another method.
 */
function unrouted(app: AnyElysia, request: Request): ApiError {
  const methods = listMethods(app, pathOf(request.url))
  // `request.url` is normalised: /v1/x/../balance becomes /v1/balance. But the router does not normalise a path, so it
  // finds no route for /v1/x/../balance. If the route /v1/balance accepts the method of the request, METHOD_NOT_ALLOWED
  // would be wrong, so the error is NOT_FOUND.
  return methods.length === 0 || methods.includes(request.method)
    ? new ApiError('NOT_FOUND')
    : new ApiError('METHOD_NOT_ALLOWED', undefined, { Allow: methods.join(', ') })
}

/**
 * Returns the path of a URL by a regular expression. `new URL` would throw if a malformed Host header makes the URL
 * invalid.
 */
function pathOf(url: string): string {
  return /^(?:https?:\/\/[^/]*)?(\/[^?]*)/.exec(url)?.[1] ?? ''
}

function linkTo(baseUrl: string): string {
  return `<${baseUrl}/v1/openapi.json>; rel="service-desc"`
}

/** Returns a function that makes request ids. An id consists of the start time of the process and a counter. */
function requestIdMaker(): () => string {
  const start = Date.now().toString(36)
  let count = 0
  return () => `${start}-${(count++).toString(36)}`
}

/** Returns the methods that the routes at this path accept, or an empty list if there is no such route. */
function listMethods(app: AnyElysia, pathname: string): string[] {
  return app.routes.filter(({ path }) => patternOf(path).test(pathname)).map(({ method }) => method)
}

const patterns = new Map<string, RegExp>()

function patternOf(path: string): RegExp {
  const known = patterns.get(path) ?? new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}$`)
  patterns.set(path, known)
  return known
}
