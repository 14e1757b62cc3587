// Changes the state of a job, the start of its timeout, and the number of its last claim. A claim gives the job to this
// server or to a worker on another machine.

import type { Db } from '../db/db.ts'
import { type JobErrorCode, jobErrors } from '../errors.ts'
import { type Job, updateJob } from './job.ts'
import { defaultProgress } from './progress.ts'
import { before, isTerminal, type JobState } from './states.ts'

export type Failure = { code: JobErrorCode; message?: string }

/**
 * Moves a job to another state. Returns null if `life` in states.ts does not allow this change, or if there is no such
 * job.
 */
export function moveJob(db: Db, id: string, to: JobState, failure?: Failure): Job | null {
  const from = before(to)
    .map(state => `'${state}'`)
    .join(', ')
  return updateJob(
    db,
    `update jobs set state = $to, state_at = $uptime, progress = $progress,
       progress_percent = case $to
         when 'downloading' then iif(started_at is null, null, 0)
         when 'processing' then 0
         when 'completed' then 100
         else progress_percent end,
       started_at = case when $to = 'processing' then coalesce(started_at, $now) else started_at end,
       fence = fence + ($to = 'processing'),
       worker = case when $to = 'processing' then null else worker end,
       completed_at = case when $terminal then $now end,
       error_code = $code, error_message = $message
     where id = $id and state in (${from})`,
    {
      id,
      to,
      now: db.now(),
      uptime: db.uptime(),
      progress: defaultProgress[to],
      terminal: Number(isTerminal(to)),
      code: failure?.code ?? null,
      message: failure ? (failure.message ?? jobErrors[failure.code]) : null,
    },
  )
}

/**
 * Restarts the timeouts of all unfinished jobs, except pending ones, which have no timeout. Must be called when the
 * server starts, because the clock `uptime` starts at zero in each process.
 */
export function restartTimeouts(db: Db): void {
  db.run(`update jobs set state_at = $uptime where completed_at is null and state <> 'pending'`, {
    uptime: db.uptime(),
  })
}

/** Restarts the timeouts of the jobs in `ids` that are unfinished. */
export function restartTimeoutsOf(db: Db, ids: string[]): void {
  if (ids.length === 0) return
  db.run(
    `update jobs set state_at = $uptime
     where id in (select value from json_each($ids)) and completed_at is null`,
    { ids: JSON.stringify(ids), uptime: db.uptime() },
  )
}

export function startDownload(db: Db, id: string): Job | null {
  return db.tx(() => moveJob(db, id, 'downloading'))
}

/**
 * Claims a job for a worker on another machine, and restarts its timeout. The holder of an earlier claim can then not
 * complete the job. Returns null if the job is not in the state `processing`.
 */
export function claimJob(db: Db, id: string, worker: string): Job | null {
  return updateJob(
    db,
    `update jobs set fence = fence + 1, attempts = attempts + 1, worker = $worker, state_at = $uptime
     where id = $id and state = 'processing'`,
    { id, worker, uptime: db.uptime() },
  )
}

/**
 * Claims a job for this server, and restarts its timeout. A worker with an earlier claim can then not complete the job.
 * Returns null if the job is not in the state `processing`.
 */
export function takeJobBack(db: Db, id: string): Job | null {
  return updateJob(
    db,
    `update jobs set fence = fence + 1, worker = null, state_at = $uptime
     where id = $id and state = 'processing'`,
    { id, uptime: db.uptime() },
  )
}
