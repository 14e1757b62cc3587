// Statistics over the jobs of all accounts in the last 24 hours, for the operator.

import { nextTurn } from '../base/next-turn.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'

export type HourOfJobs = {
  /** The time at which this hour starts, in milliseconds since 1970. */
  at: number
  completed: number
  failed: number
  audioMs: number
  /**
   * The longest waiting time of the jobs that ended in this hour, in milliseconds. A job waits from its creation to the
   * start of its recognition, or to its end if its recognition never started.
   */
  waitMs: number
}

/** The SQL condition for a failed job. A cancelled job has the state `failed` too, but does not count. */
const hasFailed = "(state = 'failed' and error_code != 'CANCELLED')"

/**
 * Returns the statistics of each of the last 24 hours, oldest hour first. A job counts in the hour of its end.
 * Cancelled jobs do not count as failed. After each hour that is read, the server can answer other requests.
 */
export async function listHours(db: Db): Promise<HourOfJobs[]> {
  const { hourMs, shownHours } = limits
  const thisHour = Math.floor(db.now() / hourMs) * hourMs
  const hours: HourOfJobs[] = []
  for (let at = thisHour - (shownHours - 1) * hourMs; at <= thisHour; at += hourMs) {
    hours.push({ at, ...sumHour(db, at) })
    await nextTurn()
  }
  return hours
}

type Sums = Omit<HourOfJobs, 'at'>

function sumHour(db: Db, from: number): Sums {
  const sums = db.find<Sums>(
    `select coalesce(sum(state = 'completed'), 0) as completed, coalesce(sum(${hasFailed}), 0) as failed,
       coalesce(sum(iif(state = 'completed', duration_ms, 0)), 0) as audioMs,
       coalesce(max(coalesce(started_at, completed_at) - created_at), 0) as waitMs
     from jobs where completed_at >= $from and completed_at < $to`,
    { from, to: from + limits.hourMs },
  )
  if (!sums) throw new Error('a sum has no row')
  return sums
}

/** Counts the failed jobs of the last 24 hours by their error code. Cancelled jobs are left out. */
export function listFailures(db: Db): { code: string; jobs: number; lastAt: number }[] {
  return db.list(
    `select error_code as code, count(*) as jobs, max(completed_at) as lastAt from jobs
     where ${hasFailed} and completed_at > $after group by error_code order by jobs desc`,
    { after: shownSince(db) },
  )
}

/** Counts the webhook events that were given up in the last 24 hours, because all delivery attempts failed. */
export function countLostEvents(db: Db): number {
  const row = db.find<{ events: number }>(
    `select count(*) as events from webhook_events
     where sent_at > $after and outcome <> 'delivered'`,
    { after: shownSince(db) },
  )
  return row?.events ?? 0
}

function shownSince(db: Db): number {
  return db.now() - limits.shownHours * limits.hourMs
}
