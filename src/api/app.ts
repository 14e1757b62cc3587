// The HTTP application: its routes, and the hooks that run for every route.

import { type AnyElysia, Elysia } from 'elysia'
import { ApiError } from '../errors.ts'
import { answerError } from './error-answer.ts'
import { callerIp, networkOf } from './gate/client-ip.ts'
import { quotaHeaders } from './gate/quota-answer.ts'
import { emptyState } from './gate/request-state.ts'
import { openRequestLog } from './request-log.ts'
import { openRecorder } from './request-record.ts'
import { pathOf } from './request-url.ts'
import { useRoutes } from './routes.ts'
import type { Service } from './service.ts'
import { listMethods, unrouted } from './unrouted.ts'

export function openApp(service: Service): AnyElysia {
  const requestIds = requestIdMaker()
  const requestLog = openRequestLog()
  const record = openRecorder(service, requestLog)

  const app: AnyElysia = new Elysia({
    // With this option, Elysia keeps the unknown fields of a request, so the validation of a body can refuse them.
    normalize: false,
    // A path with a slash at its end is a different path: /v1/balance/ does not exist.
    strictPath: true,
    // By default, Elysia assumes that a Host header has at least 4 characters. With `Host: nas`, it would ignore the
    // first part of the path: /x/docs would return the page /docs.
    handler: { standardHostname: false },
  })
    .decorate('requestState', emptyState)

    .onRequest(context => {
      const { request, server, set } = context
      const peer = server?.requestIP(request)?.address ?? ''
      const ip = callerIp(peer, request.headers.get('x-forwarded-for'), service.config.trustProxy)
      const requestId = requestIds()
      const network = networkOf(ip)
      context.requestState = { ...emptyState, requestId, startedAt: performance.now(), ip, network }
      set.headers.Link = linkTo(service.baseUrl(request))
      set.headers['X-Request-Id'] = requestId
      if (service.config.denyIps.has(ip)) {
        Object.assign(set.headers, quotaHeaders(service.rateLimiter, null))
        throw new ApiError('FORBIDDEN')
      }
      // Elysia can choose a wrong route for two kinds of requests. For HEAD, it calls the GET handler of the path. For
      // a malformed Host header, Bun makes a URL without a host, in which Elysia may read a wrong path. A request of
      // either kind is therefore refused, unless a route has exactly its method and its path.
      const isMisread = request.method === 'HEAD' || request.url.startsWith('/')
      if (isMisread && !listMethods(app, pathOf(request.url)).includes(request.method))
        throw unrouted(app, request)
    })

    .onError(({ error, code, set, requestState, request }) =>
      answerError(service, app, { error, code, set, requestState, request }),
    )

    // Flushes the database changes of a request to the disk before its successful response is sent. Skips GET requests.
    .onAfterHandle(async ({ request }) => {
      if (request.method !== 'GET') await service.db.durable()
    })

    .onAfterResponse(({ request, route, params, set, responseValue, requestState }) =>
      record({ request, route, params, status: statusSent(responseValue, set.status), requestState }),
    )

  useRoutes(app, service, requestLog)
  return app
}

/**
 * Returns the HTTP status that Elysia sends. If a handler returns a Response with another status than 200, this is the
 * status of the Response. Otherwise, it is the `status` that a handler or a hook has set.
 */
function statusSent(returned: unknown, status: number | string = 200): number {
  return returned instanceof Response && returned.status !== 200 ? returned.status : Number(status)
}

/** Returns the value of the header `Link`, which names the OpenAPI document. */
export function linkTo(baseUrl: string): string {
  return `<${baseUrl}/v1/openapi.json>; rel="service-desc"`
}

/** Returns a function that makes request ids. An id consists of the start time of the app and a counter. */
function requestIdMaker(): () => string {
  const start = Date.now().toString(36)
  let count = 0
  return () => `${start}-${(count++).toString(36)}`
}
