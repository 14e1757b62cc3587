// The route of the overview for operators. Only an account with the operator flag may read it.

import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { findAccount } from '../accounts/account.ts'
import { centsOf } from '../accounts/price.ts'
import { findAccountSettings } from '../accounts/settings.ts'
import { diskSpace } from '../base/disk-space.ts'
import { reused } from '../base/reused.ts'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { countLostEvents, listFailures, listHours } from '../jobs/last-hours.ts'
import { countJobs } from '../jobs/list.ts'
import { isTerminal, jobStates } from '../jobs/states.ts'
import { listUse } from '../jobs/usage.ts'
import { limits } from '../limits.ts'
import { sumMedia } from '../uploads/room.ts'
import { gate } from './gate/gate.ts'
import { timestamp } from './jobs/job-json.ts'
import type { LoggedRequest, RequestLog } from './request-log.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/operator.ts'

export const operator = (service: Service, log: RequestLog) => {
  const ratio = limits.statisticsReusedRatio
  const statistics = reused(() => readStatistics(service.db), { ratio })
  return new Elysia({ prefix: '/app' }).use(gate(service)).get(
    '/operator',
    async ({ caller }) => {
      if (!findAccountSettings(service.db, caller.accountId).operator) {
        throw new ApiError('FORBIDDEN', 'Only operators see this.')
      }
      return overviewOf(service, log, await statistics())
    },
    {
      session: 'app',
      response: { 200: shapes.overview },
      detail: about({ summary: 'Read the state of the service' }),
    },
  )
}

type Statistics = Awaited<ReturnType<typeof readStatistics>>

/** Reads the statistics over all jobs, accounts and events, in several turns of the event loop. */
async function readStatistics(db: Db) {
  return {
    hours: await listHours(db),
    uses: await listUse(db),
    failures: listFailures(db),
    lostEvents: countLostEvents(db),
    mediaBytes: sumMedia(db, null),
  }
}

function overviewOf(
  service: Service,
  log: RequestLog,
  { hours, uses, failures, lostEvents, mediaBytes }: Statistics,
): Static<typeof shapes.overview> {
  const { db, engine, config, metrics } = service
  const counts = new Map(countJobs(db).map(({ state, jobs }) => [state, jobs]))
  const { free, total } = diskSpace(config.dataDir)
  return {
    engine: engine.state(),
    workers: engine.capacity,
    started_at: timestamp(db.now() - process.uptime() * 1000),
    memory_bytes: process.memoryUsage.rss(),
    engine_crashes: metrics.counter('steno_engine_crashes_total', {}).value,
    lost_events: lostEvents,
    disk: {
      free_bytes: free,
      total_bytes: total,
      media_bytes: mediaBytes,
      reserve_bytes: config.diskReserveBytes,
    },
    queue: Object.fromEntries(
      jobStates.filter(state => !isTerminal(state)).map(state => [state, counts.get(state) ?? 0]),
    ),
    hours: hours.map(({ at, completed, failed, audioMs, waitMs }) => ({
      at: timestamp(at),
      completed,
      failed,
      audio_seconds: audioMs / 1000,
      wait_seconds: waitMs / 1000,
    })),
    errors: failures.map(({ code, jobs, lastAt }) => ({ code, jobs, last_at: timestamp(lastAt) })),
    accounts: uses.map(({ email, jobs, audioMs, chargedUnits, balanceUnits, lastJobAt }) => ({
      email,
      jobs,
      audio_seconds: audioMs / 1000,
      charged_cents: centsOf(chargedUnits),
      balance_cents: centsOf(balanceUnits),
      last_job_at: lastJobAt === null ? null : timestamp(lastJobAt),
    })),
    requests: log.latest().map(request => requestJson(service, request)),
  }
}

function requestJson({ db }: Service, { at, method, route, status, ms, accountId }: LoggedRequest) {
  const account = accountId === null ? null : (findAccount(db, accountId)?.email ?? null)
  return { at: timestamp(at), method, route, status, ms, account }
}
