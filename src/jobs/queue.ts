// The queue of pending jobs, and the choice of the next job in it.

import { takeTurn } from '../accounts/account.ts'
import { reserve } from '../accounts/ledger.ts'
import { priceOf } from '../accounts/price.ts'
import type { Db } from '../db/db.ts'
import { JobFailure } from '../errors.ts'
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

/**
 * Moves the next pending job to the state `processing`. Returns null if no job is pending. The accounts take turns
 * (round robin), and the jobs of one account are started in FIFO order.
 */
export function startNextJob(db: Db): Job | null {
  return db.tx(() => {
    const next = db.find<{ accountId: string; id: string }>(nextPending)
    if (!next) return null
    takeTurn(db, next.accountId)
    const job = moveJob(db, next.id, 'processing')
    if (job) recordEvent(db, job.id, 'transcription.processing')
    return job
  })
}

/**
 * Selects the job that is started next. The accounts with pending jobs take turns. The query finds the account whose
 * last turn was the longest time ago, and selects the oldest pending job of this account. The recursive part of the
 * query finds each account with pending jobs by one look-up in the index. With 100,000 jobs of 100 accounts, a query
 * that reads all pending jobs takes 70 times as long.
 */
const nextPending = `
  with recursive waiting (account_id) as (
    select min(account_id) from jobs where state = 'pending'
    union all
    select (select min(account_id) from jobs where state = 'pending' and account_id > waiting.account_id)
    from waiting where waiting.account_id is not null
  )
  select accounts.id as accountId,
    (select id from jobs where state = 'pending' and account_id = accounts.id order by seq limit 1) as id
  from waiting join accounts on accounts.id = waiting.account_id
  order by served_turn, (select min(seq) from jobs where state = 'pending' and account_id = accounts.id) limit 1`
