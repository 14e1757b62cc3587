// The webhook events that still need a delivery attempt, and the outcomes of attempts.

import type { Db, Params } from '../db/db.ts'
import { limits } from '../limits.ts'
import type { Outcome } from '../webhooks/deliver.ts'
import type { JobEvent } from './events.ts'
import type { Job } from './job.ts'

/**
 * An event that still needs a delivery attempt. `sealedBody` is the encrypted body if the job was deleted. Otherwise it
 * is null, and the sender builds the body from the job.
 */
export type DueEvent = { id: number; event: JobEvent; sealedBody: string | null }

/**
 * The SQL condition that the next delivery attempt of an event is due. If the last attempt is in the future, the clock
 * was ahead when the attempt was made, and is right again now. The stored time of the next attempt is then too late, so
 * the event is due at once.
 */
const isDue = '(next_at is null or next_at <= $now or attempted_at > $now)'

/** Lists the events of a job for which a delivery attempt is due, oldest first. */
export function listDueEvents(db: Db, jobId: string): DueEvent[] {
  return selectOpen(db, `and ${isDue}`, { jobId, now: db.now() })
}

/** Lists the events of a job that need at least one more delivery attempt, immediately or later. */
export function listOpenEvents(db: Db, jobId: string): DueEvent[] {
  return selectOpen(db, '', { jobId })
}

function selectOpen(db: Db, condition: string, params: Params): DueEvent[] {
  return db.list(
    `select id, event, sealed_body as sealedBody from webhook_events
     where job_id = $jobId and sent_at is null ${condition} order by id`,
    params,
  )
}

/** Lists at most `limit` jobs with due events, in the order of their ids. Only ids greater than `after` are listed. */
export function listJobsWithDueEvents(
  db: Db,
  { after, limit }: { after: string; limit: number },
): Pick<Job, 'id' | 'accountId' | 'webhookUrl'>[] {
  return db.list(
    `select id, account_id as accountId, webhook_url as webhookUrl from jobs where id in (
       select distinct job_id from webhook_events where sent_at is null and job_id > $after and ${isDue}
       order by job_id limit $limit)
     order by id`,
    { after, limit, now: db.now() },
  )
}

export function keepBody(db: Db, eventId: number, sealedBody: string): void {
  db.run('update webhook_events set sealed_body = $sealedBody where id = $eventId', { eventId, sealedBody })
}

export function markAttempted(db: Db, eventId: number): void {
  db.run('update webhook_events set attempted_at = $now, attempts = attempts + 1 where id = $eventId', {
    eventId,
    now: db.now(),
  })
}

/**
 * Stores the outcome of a delivery attempt, and the time of the next one. No attempt follows after a success, after
 * `retries` retries, or if `outcome` is null: the event then has no body, no address or no signing key. Stores nothing
 * if the account asked for a redelivery during the attempt.
 */
export function markEnded(
  db: Db,
  eventId: number,
  outcome: Outcome | null,
  { retries }: { retries: number },
): void {
  db.tx(() => {
    const row = db.find<{ attempts: number }>('select attempts from webhook_events where id = $eventId', {
      eventId,
    })
    const attempts = row?.attempts ?? 0
    // Each attempt is counted at its start, so a count of 0 means that the account asked for a redelivery during the
    // attempt, or that the event was erased. In both cases, this outcome is not stored.
    if (attempts === 0) return
    const isSettled = outcome === null || outcome.kind === 'delivered' || attempts > retries
    db.run(
      `update webhook_events set outcome = $kind, response_status = $status, next_at = $nextAt,
         sent_at = case when $isSettled then $now end,
         sealed_body = case when $isSettled then null else sealed_body end
       where id = $eventId`,
      {
        eventId,
        kind: outcome?.kind ?? null,
        status: outcome && 'status' in outcome ? outcome.status : null,
        nextAt: isSettled ? null : db.now() + retryPauseMs(attempts),
        isSettled: Number(isSettled),
        now: db.now(),
      },
    )
  })
}

/**
 * Returns the pause, in milliseconds, after the failed attempt number `attempts`, counted from 1. The first pause is 4
 * minutes. Each further pause is four times as long, up to `webhookRetryMsMax`.
 */
export function retryPauseMs(attempts: number): number {
  const pauseMs = limits.webhookRetryMs * limits.webhookRetryFactor ** (attempts - 1)
  return Math.min(pauseMs, limits.webhookRetryMsMax)
}
