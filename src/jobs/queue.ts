// The queue of pending jobs, and the choice of the next job in it.

import { takeTurn } from '../accounts/account.ts'
import { reserve } from '../accounts/ledger.ts'
import { priceOf } from '../accounts/price.ts'
import type { Db } from '../db/db.ts'
import type { Needs } from '../engine/request.ts'
import { JobFailure } from '../errors.ts'
import { recordEvent } from './events.ts'
import { findJob, type Job } from './job.ts'
import { moveJob } from './moves.ts'

/**
 * Queues a job whose media passed the inspection, and reserves the price of the job. The price of a job whose media
 * were downloaded again is already reserved. Returns false if the job has already ended or was erased. If the balance
 * is too low, throws a JobFailure and changes nothing.
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
    const costUnits = job.costUnits ?? priceOf(durationMs, pricePerHourCents)
    const isReserved = job.costUnits !== null || reserve(db, job.accountId, id, costUnits)
    if (!isReserved) throw new JobFailure('INSUFFICIENT_BALANCE')
    db.run(
      `update jobs set duration_ms = $durationMs, channel_count = $channels, cost_units = $costUnits
       where id = $id`,
      { id, durationMs, channels, costUnits },
    )
    return true
  })
}

/** Returns true if the engine has free capacity for a job with these needs. */
type HasRoomFor = (needs: Needs) => boolean

/**
 * Moves the next pending job to the state `processing`, or to `downloading` if its media file is lost. Returns null if
 * no pending job can start. The accounts take turns (round robin), and the jobs of one account are started in FIFO
 * order. A job for which the engine has no free capacity waits, and a later job may overtake it: for example, if only
 * the server's own engine can do the earlier job and is busy, but a worker on another machine is free.
 */
export function startNextJob(
  db: Db,
  hasRoomFor: HasRoomFor = () => true,
  isMediaLost: (job: Job) => boolean = () => false,
): Job | null {
  const next = findNext(db, hasRoomFor)
  const job = next && findJob(db, next.id)
  return job && startJob(db, job, isMediaLost(job) ? 'downloading' : 'processing')
}

/**
 * Moves a pending job, or a job in the state `processing` whose media file is lost, to the state `to`. Returns null if
 * the job has ended or was erased.
 */
export function startJob(db: Db, job: Job, to: 'downloading' | 'processing'): Job | null {
  return db.tx(() => {
    const moved = moveJob(db, job.id, to)
    if (!moved) return null
    takeTurn(db, job.accountId)
    const isFirst = to === 'processing' && job.startedAt === null
    if (isFirst) recordEvent(db, job.id, 'transcription.processing')
    return moved
  })
}

/**
 * Finds the pending job that is started next. Returns null if no job is pending, or if the engine has no free capacity
 * for any of them. Many jobs have the same needs, so the engine is asked only once for all jobs with the same needs.
 */
function findNext(db: Db, hasRoomFor: HasRoomFor): Next | null {
  const kinds = db.list<Kind>(kindsOfPending)
  const startable = kinds.filter(kind => hasRoomFor(needsOf(kind)))
  if (startable.length === 0) return null
  if (startable.length === kinds.length) return db.find<Next>(nextOfAll)
  return db.find<Next>(nextOfKinds, { kinds: JSON.stringify(startable.map(({ needs }) => needs)) })
}

type Next = { id: string }

/** `needs` is a text of the other three fields. It is the same text for all jobs with the same needs. */
type Kind = { needs: string; language: string | null; diarize: number; translate: number }

function needsOf({ language, diarize, translate }: Kind): Needs {
  return { language, diarize: diarize === 1, translate: translate === 1 }
}

/**
 * Selects the different needs of the pending jobs. The recursive part finds each of them by one look-up in the index.
 */
const kindsOfPending = `
  with recursive kinds (needs) as (
    select min(needs) from jobs where state = 'pending'
    union all
    select (select min(needs) from jobs where state = 'pending' and needs > kinds.needs)
    from kinds where kinds.needs is not null
  )
  select jobs.needs, language, diarize, translate from kinds
  join jobs on jobs.seq = (select seq from jobs where state = 'pending' and needs = kinds.needs limit 1)`

/**
 * Selects the next pending job: the oldest one of the account whose last turn was the longest time ago. The recursive
 * part finds each account with pending jobs by one look-up in the index. With 6,000 jobs of 300 accounts and 44
 * different needs, this query takes 0.7 ms, and `nextOfKinds` would take 18 ms.
 */
const nextOfAll = `
  with recursive waiting (account_id) as (
    select min(account_id) from jobs where state = 'pending'
    union all
    select (select min(account_id) from jobs where state = 'pending' and account_id > waiting.account_id)
    from waiting where waiting.account_id is not null
  )
  select jobs.id
  from waiting join accounts on accounts.id = waiting.account_id
  join jobs on jobs.seq = (select min(seq) from jobs where state = 'pending' and account_id = accounts.id)
  order by served_turn, jobs.seq limit 1`

/**
 * Selects the next pending job whose needs are in the list `$kinds`, in the same order as `nextOfAll`. For each of the
 * needs, the recursive part finds each account with such jobs by one look-up in the index. With 100,000 jobs of 100
 * accounts, a query that reads all pending jobs takes 70 times as long.
 */
const nextOfKinds = `
  with recursive waiting (needs, account_id) as (
    select value, (select min(account_id) from jobs where state = 'pending' and needs = value)
    from json_each($kinds)
    union all
    select needs, (
      select min(account_id) from jobs
      where state = 'pending' and jobs.needs = waiting.needs and account_id > waiting.account_id
    )
    from waiting where waiting.account_id is not null
  )
  select jobs.id
  from waiting join accounts on accounts.id = waiting.account_id
  join jobs on jobs.seq = (
    select min(seq) from jobs
    where state = 'pending' and needs = waiting.needs and account_id = waiting.account_id
  )
  order by served_turn, jobs.seq limit 1`
