// Lists jobs: one page of jobs for a caller, or the jobs that a sweep or a restart of the server must handle.

import type { Db, Params } from '../db/db.ts'
import { limits } from '../limits.ts'
import { type Job, selectJobs } from './job.ts'
import type { JobState } from './states.ts'

export type ListFilter = {
  state: JobState | null
  fromMs: number | null
  toMs: number | null
  order: 'asc' | 'desc'
}
export type Place = { createdAt: number; seq: number }

/**
 * Returns at most `limit` jobs of an account that match the filter. `after` names the last job of the previous page by
 * its time of creation and its `seq` (keyset pagination). `after` is null for the first page.
 */
export function listJobs(
  db: Db,
  accountId: string,
  filter: ListFilter,
  { after, limit }: { after: Place | null; limit: number },
): Job[] {
  const beyond = filter.order === 'asc' ? '>' : '<'
  const where = ['account_id = $accountId', 'deleted_at is null']
  const params: Params = { accountId, limit }
  if (filter.state !== null) {
    where.push('state = $state')
    params.state = filter.state
  }
  if (filter.fromMs !== null) {
    where.push('created_at >= $fromMs')
    params.fromMs = filter.fromMs
  }
  if (filter.toMs !== null) {
    where.push('created_at < $toMs')
    params.toMs = filter.toMs
  }
  if (after) {
    where.push(`(created_at, seq) ${beyond} ($createdAt, $seq)`)
    Object.assign(params, after)
  }
  return selectJobs(
    db,
    `where ${where.join(' and ')}
     order by created_at ${filter.order}, seq ${filter.order} limit $limit`,
    params,
  )
}

export function listUnfinishedJobs(db: Db): Job[] {
  // The plus sign before `seq` prevents SQLite from using the index of `seq`. With this index, SQLite would read all
  // jobs, not only the unfinished jobs.
  return selectJobs(db, 'where completed_at is null order by +seq')
}

export function countJobs(db: Db): { state: JobState; jobs: number }[] {
  return db.list<{ state: JobState; jobs: number }>(
    'select state, count(*) as jobs from jobs where completed_at is null group by state',
  )
}

/** Lists the unfinished jobs that have been in `state` for longer than `timeoutMs`, by the monotonic clock. */
export function listStuckJobs(db: Db, { state, timeoutMs }: { state: JobState; timeoutMs: number }): Job[] {
  return selectJobs(db, 'where state = $state and state_at < $before and completed_at is null', {
    state,
    before: db.uptime() - timeoutMs,
  })
}

/** Lists jobs that ended at `endedBefore` or earlier, but no deleted jobs. A call returns a limited number of jobs. */
export function listOldJobs(db: Db, { endedBefore }: { endedBefore: number }): Job[] {
  return selectJobs(
    db,
    'where completed_at is not null and completed_at <= $endedBefore and deleted_at is null limit $limit',
    { endedBefore, limit: limits.jobRemovalsMax },
  )
}

/** Lists the newest jobs of one account. If `accountId` is null, lists the newest jobs of all accounts. */
export function listNewestJobs(
  db: Db,
  { accountId, state, limit }: { accountId: string | null; state: JobState | null; limit: number },
): Job[] {
  return selectJobs(
    db,
    `where deleted_at is null and ($accountId is null or account_id = $accountId)
     and ($state is null or state = $state) order by seq desc limit $limit`,
    { accountId, state, limit },
  )
}

/**
 * Lists jobs whose media are no longer needed: jobs that ended at `endedBefore` or earlier, and deleted jobs. (A
 * deleted job still has media only if the server crashed during the deletion.) A call returns a limited number of jobs.
 */
export function listJobsWithOldMedia(db: Db, { endedBefore }: { endedBefore: number }): Job[] {
  return selectJobs(
    db,
    `where media_kept = 1 and completed_at is not null
     and (completed_at <= $endedBefore or deleted_at is not null) limit $limit`,
    { endedBefore, limit: limits.mediaRemovalsMax },
  )
}
