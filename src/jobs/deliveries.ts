// The deliveries of job events to webhooks. An account can list its deliveries, and can repeat a delivery.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import type { Outcome } from '../webhooks/deliver.ts'
import type { JobEvent } from './events.ts'

/**
 * A webhook delivery: the sending of one event of a job to a URL. The API shows to each account the deliveries of its
 * own jobs.
 */
export type Delivery = {
  jobId: string
  event: JobEvent
  url: string
  attempts: number
  outcome: Outcome['kind'] | null
  responseStatus: number | null
  createdAt: number
  attemptedAt: number | null
  /** The time at which the event was delivered or given up. Null if a further attempt follows. */
  settledAt: number | null
  /** The time of the next delivery attempt. Null if no further attempt follows, or if the attempt is due now. */
  nextAt: number | null
}

const columns = `job_id as jobId, event, webhook_url as url, webhook_events.attempts, outcome, response_status as responseStatus,
  webhook_events.created_at as createdAt, attempted_at as attemptedAt, sent_at as settledAt, next_at as nextAt`

/** Lists the newest deliveries of an account, at most `deliveriesShownMax`, newest first. */
export function listDeliveries(db: Db, accountId: string): Delivery[] {
  return db.list(
    `select ${columns} from webhook_events join jobs on jobs.id = job_id
     where webhook_events.account_id = $accountId order by webhook_events.id desc limit $limit`,
    { accountId, limit: limits.deliveriesShownMax },
  )
}

/**
 * Lists the webhook addresses whose last delivery got an answer in the last `webhookReceiversKeptMs`. Reads at most the
 * last `webhookEventsReadMax` events.
 */
export function listAnsweredAddresses(db: Db): { accountId: string; webhookUrl: string }[] {
  // If a query with `max` has other plain columns, SQLite takes their values from the row of the maximum. So `outcome`
  // is that of the last attempt.
  const last = `select jobs.account_id as accountId, webhook_url as webhookUrl, outcome, max(attempted_at)
    from webhook_events join jobs on jobs.id = job_id
    where webhook_events.id > (select max(id) from webhook_events) - $eventsMax
      and attempted_at >= $since and outcome is not null and webhook_url is not null
    group by jobs.account_id, webhook_url`
  return db.list(`select accountId, webhookUrl from (${last}) where outcome in ('delivered', 'refused')`, {
    eventsMax: limits.webhookEventsReadMax,
    since: db.now() - limits.webhookReceiversKeptMs,
  })
}

export function findDelivery(
  db: Db,
  accountId: string,
  { jobId, event }: { jobId: string; event: string },
): Delivery | null {
  return db.find(
    `select ${columns} from webhook_events join jobs on jobs.id = job_id
     where webhook_events.account_id = $accountId and job_id = $jobId and event = $event`,
    { accountId, jobId, event },
  )
}

/** Resets an event to its state before the first delivery attempt, so that an attempt is due. */
export function reopenDelivery(db: Db, { jobId, event }: Pick<Delivery, 'jobId' | 'event'>): void {
  db.run(
    `update webhook_events set sent_at = null, next_at = null, attempted_at = null, attempts = 0,
       outcome = null, response_status = null
     where job_id = $jobId and event = $event`,
    { jobId, event },
  )
}
