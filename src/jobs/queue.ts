// The queue of pending jobs, and the choice of the next job in it.

import { takeTurn } from '../accounts/account.ts'
import { reserve } from '../accounts/ledger.ts'
import { priceOf } from '../accounts/price.ts'
import type { Db } from '../db/db.ts'
import type { Needs } from '../engine/request.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { recordEvent } from './events.ts'
import type { Job } from './job.ts'
import { moveJob } from './moves.ts'

/**
 * Queues a job whose media passed the inspection, and reserves the price of the job. Returns false if the job has
 * already ended. If the balance is too low, throws a JobFailure and changes nothing.
 */
export function queueJob(
  db: Db,
  id: string,
  {
    durationMs,
    channels,
    pricePerHourCents,
  }: { durationMs: number; channels: number; pricePerHourCents: number },
): boolean {
  return db.tx(() => {
    const job = moveJob(db, id, 'pending')
    if (!job) return false
    const costUnits = priceOf(durationMs, pricePerHourCents)
    if (!reserve(db, job.accountId, id, costUnits)) throw new JobFailure('INSUFFICIENT_BALANCE')
    db.run(
      `update jobs set duration_ms = $durationMs, channel_count = $channels, cost_units = $costUnits
       where id = $id`,
      { id, durationMs, channels, costUnits },
    )
    return true
  })
}

/** Returns true if the engine has room for a job with these needs. */
type HasRoomFor = (needs: Needs) => boolean

/**
 * Moves the next pending job to the state `processing`. Returns null if no pending job can start. The accounts take
 * turns (round robin), and the jobs of one account are started in FIFO order. A job for which the engine has no room
 * waits, and a later job may overtake it: for example, if only the server's own engine can do the earlier job and is
 * busy, but a worker on another machine is free.
 */
export function startNextJob(db: Db, hasRoomFor: HasRoomFor = () => true): Job | null {
  return db.tx(() => {
    const next = findNext(db, hasRoomFor)
    if (!next) return null
    takeTurn(db, next.accountId)
    const job = moveJob(db, next.id, 'processing')
    if (job) recordEvent(db, job.id, 'transcription.processing')
    return job
  })
}

/**
 * Finds the pending job that is started next. Returns null if no job is pending, or if the engine has room for none of
 * the jobs that are tried.
 */
function findNext(db: Db, hasRoomFor: HasRoomFor): Pending | null {
  const first = db.find<Pending>(`${pendingInTurn} limit 1`)
  if (!first || hasRoomFor(needsOf(first))) return first
  /**
   * The needs, as JSON, for which the engine has no room. Many jobs have the same needs, so the engine is asked only
   * once for each.
   */
  const refused = new Set([JSON.stringify(needsOf(first))])
  let left = limits.pendingJobsTried
  for (const { accountId } of db.list<Pending>(pendingInTurn)) {
    const oldest = db.list<Pending>(oldestPending, { accountId, most: limits.pendingJobsTriedOfAccount })
    for (const job of oldest) {
      if (left-- === 0) return null
      const needs = needsOf(job)
      const key = JSON.stringify(needs)
      if (refused.has(key)) continue
      if (hasRoomFor(needs)) return job
      refused.add(key)
    }
  }
  return null
}

type Pending = { accountId: string; id: string; language: string | null; diarize: number; translate: number }

function needsOf({ language, diarize, translate }: Pending): Needs {
  return { language, diarize: diarize === 1, translate: translate === 1 }
}

const oldestPending = `
  select account_id as accountId, id, language, diarize, translate from jobs
  where state = 'pending' and account_id = $accountId order by seq limit $most`

/**
 * Selects the oldest pending job of each account, in the order in which the accounts take turns: first the account
 * whose last turn was the longest time ago. The recursive part of the query finds each account with pending jobs by one
 * look-up in the index. With 100,000 jobs of 100 accounts, a query that reads all pending jobs takes 70 times as long.
 */
const pendingInTurn = `
  with recursive waiting (account_id) as (
    select min(account_id) from jobs where state = 'pending'
    union all
    select (select min(account_id) from jobs where state = 'pending' and account_id > waiting.account_id)
    from waiting where waiting.account_id is not null
  )
  select accounts.id as accountId, jobs.id, language, diarize, translate
  from waiting join accounts on accounts.id = waiting.account_id
  join jobs on jobs.seq = (select min(seq) from jobs where state = 'pending' and account_id = accounts.id)
  order by served_turn, jobs.seq`
