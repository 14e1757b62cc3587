// Lists and counts jobs, for the API, for the command line and for the metrics.

import type { Db, Params } from '../db/db.ts'
import { type Job, selectJobs } from './job.ts'
import type { JobState } from './states.ts'

export type ListFilter = {
  status: JobState | null
  fromMs: number | null
  toMs: number | null
  order: 'asc' | 'desc'
}
export type Place = { createdAt: number; seq: number }

/**
 * Returns at most `limit` jobs of an account that match the filter. `after` has the time of creation and the `seq` of
 * the last job on the previous page, or is null for the first page.
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
  if (filter.status !== null) {
    where.push('status = $status')
    params.status = filter.status
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

export function countJobs(db: Db): { state: JobState; jobs: number }[] {
  return db.list<{ state: JobState; jobs: number }>(
    'select state, count(*) as jobs from jobs where completed_at is null group by state',
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
