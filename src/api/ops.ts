import { Elysia } from 'elysia'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { limits } from '../limits.ts'
import { parseNets } from '../net/nets.ts'
import { emptyState } from './gate/request-state.ts'
import { metricsText } from './metrics-text.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/ops.ts'

/** The endpoints for operators, such as health checks and metrics. The rate limits do not apply to these endpoints. */
export const ops = (service: Service) => {
  const isWritable = writability(service)
  return new Elysia({ tags: ['Operations'] })
    .decorate('requestState', emptyState)

    .get('/v1/health', () => ({ status: 'ok' as const }), {
      response: { 200: shapes.health },
      detail: about({ summary: 'Is the process alive' }),
    })

    .get(
      '/v1/ready',
      ({ set }) => {
        const engine = service.engine.state()
        const database = isWritable()
        const ready = database && engine.ready
        set.status = ready ? 200 : 503
        return { ready, database, engine, ...workersOf(service) }
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
      ({ requestState }) => {
        if (!mayMeasure(service, requestState.ip)) throw new ApiError('FORBIDDEN')
        return new Response(metricsText(service), {
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

function mayMeasure({ config }: Service, ip: string): boolean {
  return loopback.has(ip) || config.metricsNets.has(ip)
}

/**
 * Returns a function that tests whether the database can be written. The function reuses its last result for
 * `readyEveryMs`, because anyone may send any number of requests to /v1/ready.
 */
function writability(service: Service): () => boolean {
  let isWritable = false
  let probedAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - probedAt < limits.readyEveryMs) return isWritable
    probedAt = now
    isWritable = canWrite(service.db)
    return isWritable
  }
}

function canWrite(db: Db): boolean {
  try {
    db.probe()
    return true
  } catch {
    return false
  }
}
