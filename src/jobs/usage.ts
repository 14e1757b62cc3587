// Statistics over the jobs of all accounts, for the operator.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'

export type HourOfJobs = {
  /** The time at which this hour starts, in milliseconds since 1970. */
  at: number
  completed: number
  failed: number
  audioMs: number
  /**
   * The longest waiting time of the jobs in this hour, in milliseconds. The waiting time of a job is from its creation
   * to the start of its recognition, or to its end if its recognition never started.
   */
  waitMs: number
}

/** The SQL condition for a failed job. A cancelled job also has the state `failed`, but this condition excludes it. */
const hasFailed = "(state = 'failed' and error_code != 'CANCELLED')"

export type UseOfAccount = {
  email: string
  jobs: number
  audioMs: number
  chargedUnits: number
  balanceUnits: number
  lastJobAt: number | null
}

/**
 * Returns the totals of all jobs for each of the last 24 hours, oldest hour first. An entry counts the jobs that ended
 * in its hour. Cancelled jobs do not count as failed.
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

/** Lists the accounts with the most transcribed audio in the last 30 days, the largest first. */
export function listUse(db: Db): UseOfAccount[] {
  return db.list<UseOfAccount>(
    `select email, count(jobs.id) as jobs,
       coalesce(sum(case jobs.state when 'completed' then jobs.duration_ms end), 0) as audioMs,
       (select coalesce(sum(units), 0) from ledger
        where account_id = accounts.id and kind = 'settle' and ledger.created_at > $after) as chargedUnits,
       balance_units as balanceUnits, max(jobs.created_at) as lastJobAt
     from accounts left join jobs on jobs.account_id = accounts.id and jobs.created_at > $after
     group by accounts.id order by audioMs desc, email limit $most`,
    { after: db.now() - limits.shownAccountsMs, most: limits.shownAccounts },
  )
}

/** Returns the size of the media files of all jobs and of all unused uploads, in bytes. */
export function sumMedia(db: Db): number {
  const row = db.find<{ bytes: number }>(
    `select (select coalesce(sum(file_bytes), 0) from jobs where media_kept = 1)
       + (select coalesce(sum(file_bytes), 0) from uploads where used_at is null) as bytes`,
  )
  return row?.bytes ?? 0
}

/**
 * Returns the name and the duration of each job. The name is `name` in the metadata of the job. If the metadata has no
 * name, it is the name of the uploaded file, or else the address of the source. Deleted jobs are left out.
 */
export function findNames(
  db: Db,
  ids: readonly string[],
): Map<string, { name: string; durationMs: number | null }> {
  const rows = db.list<{ id: string; name: string; durationMs: number | null }>(
    `select jobs.id, coalesce(json_extract(metadata, '$.name'), uploads.filename, source_url) as name, duration_ms as durationMs
     from jobs left join uploads on uploads.id = upload_id
     where deleted_at is null and jobs.id in (select value from json_each($ids))`,
    { ids: JSON.stringify(ids) },
  )
  return new Map(rows.map(({ id, ...job }) => [id, job]))
}
