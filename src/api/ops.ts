import { readdirSync, statfsSync } from 'node:fs'
import { Elysia } from 'elysia'
import { build } from '../base/build.ts'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { countJobs } from '../jobs/list.ts'
import { isTerminal, jobStates } from '../jobs/states.ts'
import { limits } from '../limits.ts'
import { parseNets } from '../net/nets.ts'
import { emptyState } from './gate.ts'
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

function metricsText({ db, config, engine, fleet, metrics }: Service): string {
  const counts = new Map(countJobs(db).map(({ state, jobs }) => [state, jobs]))
  const unfinished = jobStates.filter(state => !isTerminal(state))
  const { ready, model, device } = engine.state()
  metrics.set('steno_engine_ready', { model: model ?? 'none', device: device ?? 'none' }, Number(ready))
  for (const state of unfinished) metrics.set('steno_jobs', { state }, counts.get(state) ?? 0)
  if (fleet) measureFleet(metrics, fleet)
  metrics.set('steno_build_info', { ...build, bun: Bun.version }, 1)
  const { bavail, bsize } = statfsSync(config.dataDir)
  metrics.set('steno_disk_free_bytes', {}, bavail * bsize)
  const { user, system } = process.cpuUsage()
  metrics.set('process_resident_memory_bytes', {}, process.memoryUsage.rss())
  metrics.set('process_cpu_seconds_total', {}, (user + system) / 1e6)
  metrics.set('process_start_time_seconds', {}, Math.round(performance.timeOrigin) / 1000)
  metrics.set('process_open_fds', {}, readdirSync('/proc/self/fd').length)
  return metrics.text()
}

function measureFleet(metrics: Service['metrics'], fleet: NonNullable<Service['fleet']>): void {
  const workers = fleet.workers()
  metrics.set('steno_nats_connected', {}, Number(fleet.fault() === null))
  metrics.set(
    'steno_worker_jobs',
    {},
    workers.reduce((sum, { jobs }) => sum + jobs, 0),
  )
  metrics.clear('steno_workers')
  for (const { ready, model, device } of workers)
    if (ready) metrics.add('steno_workers', { model, device: device ?? 'none' })
}
