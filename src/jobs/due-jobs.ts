// Lists the jobs that the server must handle at its start or periodically.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { type Job, selectJobs } from './job.ts'
import type { JobState } from './states.ts'

/** Lists the unfinished jobs, except pending ones. The queue finds each pending job when its turn comes. */
export function listStartedJobs(db: Db): Job[] {
  // The plus sign prevents SQLite from using the index of `seq`. With this index, SQLite would read all jobs.
  return selectJobs(db, `where completed_at is null and state <> 'pending' order by +seq`)
}

/** Returns the ids of the unfinished jobs, except pending ones. */
export function listStartedIds(db: Db): Set<string> {
  // The list of states lets SQLite skip the pending jobs in the index.
  const rows = db.list<{ id: string }>(
    `select id from jobs where completed_at is null and state in ('created', 'downloading', 'processing')`,
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * Lists a limited number of unfinished jobs in `state` whose timeout was started more than `timeoutMs` ago, by the
 * monotonic clock. The job whose timeout was started first comes first.
 */
export function listStuckJobs(db: Db, { state, timeoutMs }: { state: JobState; timeoutMs: number }): Job[] {
  return selectJobs(
    db,
    'where state = $state and state_at < $before and completed_at is null order by state_at limit $limit',
    { state, before: db.uptime() - timeoutMs, limit: limits.stuckJobsMax },
  )
}

/** Lists a limited number of jobs that ended at `endedBefore` or earlier and are not deleted. */
export function listOldJobs(db: Db, { endedBefore }: { endedBefore: number }): Job[] {
  return selectJobs(
    db,
    'where completed_at is not null and completed_at <= $endedBefore and deleted_at is null limit $limit',
    { endedBefore, limit: limits.jobRemovalsMax },
  )
}

/** Lists a limited number of jobs that have media and ended at `endedBefore` or earlier. */
export function listJobsWithOldMedia(db: Db, { endedBefore }: { endedBefore: number }): Job[] {
  return selectJobs(
    db,
    // Without `indexed by`, SQLite would use the index of all ended jobs. Most ended jobs have no media any more.
    `indexed by jobs_with_media where media_kept = 1 and completed_at is not null
     and completed_at <= $endedBefore limit $limit`,
    { endedBefore, limit: limits.mediaRemovalsMax },
  )
}

/** Lists a limited number of deleted jobs that still have media, for example after a crash during the deletion. */
export function listDeletedJobsWithMedia(db: Db): Job[] {
  return selectJobs(db, 'where media_kept = 1 and deleted_at is not null limit $limit', {
    limit: limits.mediaRemovalsMax,
  })
}
