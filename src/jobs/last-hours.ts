// Statistics over the jobs of all accounts in the last 24 hours, for the operator.

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
 * Cancelled jobs do not count as failed.
 */
export function listHours(db: Db): HourOfJobs[] {
  const { hourMs, shownHours } = limits
  const first = Math.floor(db.now() / hourMs) - shownHours + 1
  const rows = db.list<HourOfJobs & { hour: number }>(
    `select completed_at / $hourMs as hour, sum(state = 'completed') as completed, sum(${hasFailed}) as failed,
       sum(case state when 'completed' then coalesce(duration_ms, 0) else 0 end) as audioMs,
       max(coalesce(started_at, completed_at) - created_at) as waitMs
     from jobs where completed_at >= $first * $hourMs group by hour`,
    { hourMs, first },
  )
  const known = new Map(rows.map(({ hour, ...sums }) => [hour, sums]))
  return Array.from({ length: shownHours }, (_, at) => ({
    completed: 0,
    failed: 0,
    audioMs: 0,
    waitMs: 0,
    ...known.get(first + at),
    at: (first + at) * hourMs,
  }))
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
     where sent_at > $after and outcome is not null and outcome != 'delivered'`,
    { after: shownSince(db) },
  )
  return row?.events ?? 0
}

function shownSince(db: Db): number {
  return db.now() - limits.shownHours * limits.hourMs
}
