import { Elysia } from 'elysia'
import { ApiError } from '../errors.ts'
import { parseNets } from '../net/nets.ts'
import { emptyState } from './gate/request-state.ts'
import { metricsText } from './metrics-text.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/ops.ts'
import { openStorageCheck } from './storage.ts'

/** The endpoints for operators, such as health checks and metrics. They have no rate limits. */
export const ops = (service: Service) => {
  const checkStorage = openStorageCheck(service)
  return new Elysia({ tags: ['Operations'] })
    .decorate('requestState', emptyState)

    .get('/v1/health', () => ({ status: 'ok' as const }), {
      response: { 200: shapes.health },
      detail: about({ summary: 'Is the process alive' }),
    })

    .get(
      '/v1/ready',
      async ({ set }) => {
        const { database, media } = await checkStorage()
        const engine = service.engine.state()
        const ready = database && media && engine.ready
        set.status = ready ? 200 : 503
        return { ready, database, media, engine, ...workersOf(service) }
      },
      {
        response: { 200: shapes.readiness, 503: shapes.readiness },
        detail: about({
          summary: 'Can it take and do work',
          also: { 503: 'Not now: the body says what is missing' },
        }),
      },
    )

    .get(
      '/metrics',
      async ({ request, requestState }) => {
        if (!mayMeasure(service, request, requestState.ip)) throw new ApiError('FORBIDDEN')
        return new Response(metricsText(service, await checkStorage()), {
          headers: { 'Content-Type': service.metrics.contentType },
        })
      },
      { detail: about({ hide: true }) },
    )
}

function workersOf({ fleet }: Service) {
  if (!fleet) return {}
  const fault = fleet.fault()
  return { workers: { connected: fault === null, message: fault ?? 'connected', list: fleet.workers() } }
}

const loopback = parseNets('127.0.0.0/8,::1')!

/**
 * Returns true if the request came from an address in STENO_METRICS_NETS, or from this machine without a proxy. A
 * loopback address alone is not enough: if a proxy on this machine is not in STENO_TRUST_PROXY, each of its requests
 * has a loopback address. The header X-Forwarded-For shows that a request came through a proxy.
 */
function mayMeasure({ config }: Service, { headers }: Request, ip: string): boolean {
  const isDirect = !headers.has('x-forwarded-for')
  return (isDirect && loopback.has(ip)) || config.metricsNets.has(ip)
}
