// The HTTP application: what every request passes before its route, and what every answer carries.

import { type AnyElysia, Elysia } from 'elysia'
import { log } from '../base/log.ts'
import { ApiError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Service } from '../service.ts'
import { accounts } from './accounts.ts'
import { balance } from './balance.ts'
import { callerIp } from './caller.ts'
import { description } from './description.ts'
import { envelope, statusOf, toApiError } from './envelope.ts'
import { type Passing, Replay } from './gate.ts'
import { freeKey } from './idempotency.ts'
import { ops } from './ops.ts'
import { quotaHeaders } from './quota.ts'
import { listMethods } from './routes.ts'
import { transcribe } from './transcribe.ts'
import { transcriptions } from './transcriptions.ts'
import { uploads } from './uploads.ts'

export function openApp(service: Service): AnyElysia {
  const { config, metrics } = service
  const link = () => `<${config.baseUrl}/v1/openapi.json>; rel="service-desc"`
  const requestIds = requestIdMaker()
  const first: Omit<Passing, 'request' | 'set'> & { requestId: string; startedAt: number } = {
    ip: '',
    caller: null,
    claim: null,
    rawBody: new Uint8Array(),
    requestId: '',
    startedAt: 0,
  }

  const app: AnyElysia = new Elysia({
    // Fields that are not known are refused, not dropped; /v1/balance/ is not /v1/balance.
    normalize: false,
    strictPath: true,
    serve: {
      reusePort: false,
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      idleTimeout: limits.requestIdleMs / 1000,
    },
  })
    .decorate(first)

    .onRequest(context => {
      const { request, server, set } = context
      context.requestId = requestIds()
      context.startedAt = performance.now()
      set.headers.Link = link()
      set.headers['X-Request-Id'] = context.requestId
      const peer = server?.requestIP(request)?.address ?? ''
      context.ip = callerIp(peer, request.headers.get('x-forwarded-for'), config.trustProxy)
      if (config.denyIps.has(context.ip)) throw new ApiError('FORBIDDEN')
      // Elysia would answer HEAD by the GET route.
      if (request.method === 'HEAD') throw unrouted(request)
    })

    .onError(context => {
      const { error, code, set, claim, requestId, request } = context
      if (claim) freeKey(claim)
      const replay = error instanceof Error && error.cause instanceof Replay ? error.cause : null
      if (replay) {
        set.headers['Idempotent-Replay'] = 'true'
        set.status = 200
        return new Response(replay.reply, { headers: { 'Content-Type': 'application/json' } })
      }
      const answer = toApiError(code === 'NOT_FOUND' ? unrouted(request) : error, code, requestId)
      if (answer.code === 'NOT_FOUND' || answer.code === 'METHOD_NOT_ALLOWED') {
        service.rateLimiter.take('ip', context.ip)
        Object.assign(set.headers, quotaHeaders(service.rateLimiter, null))
      }
      Object.assign(set.headers, answer.headers)
      set.status = statusOf(answer.code)
      return envelope(answer, config.baseUrl)
    })

    .onAfterResponse(({ request, route, set, requestId, startedAt }) => {
      const seconds = (performance.now() - startedAt) / 1000
      const status = Number(set.status ?? 200)
      const shown = route ?? 'none'
      metrics.add('steno_http_requests_total', {
        route: shown,
        method: methodName(request),
        status: `${status}`,
      })
      metrics.observe('steno_http_request_seconds', { route: shown }, seconds)
      if (request.method === 'GET' && status < 500) return
      log.info('request', {
        request_id: requestId,
        method: methodName(request),
        route: shown,
        status,
        ms: Math.round(seconds * 1000),
      })
    })

    .use(description(service, () => app))
    .use(accounts(service))
    .use(balance(service))
    .use(uploads(service))
    .use(transcribe(service))
    .use(transcriptions(service))
    .use(ops(service))

  const unrouted = (request: Request): ApiError => {
    const methods = listMethods(app, new URL(request.url).pathname)
    return methods.length === 0
      ? new ApiError('NOT_FOUND')
      : new ApiError('METHOD_NOT_ALLOWED', undefined, { Allow: methods.join(', ') })
  }
  return app
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** A caller may send any word as a method; metrics and log know the usual ones. */
function methodName({ method }: Request): string {
  return knownMethods.has(method) ? method : 'OTHER'
}

/** Unique within the life of a process, and hardly ever the same across two. */
function requestIdMaker(): () => string {
  const start = Date.now().toString(36)
  let count = 0
  return () => `${start}-${(count++).toString(36)}`
}
