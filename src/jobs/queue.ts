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
 * Queues a job after the inspection of its media, and reserves its price. If the media file is lost later, the job is
 * downloaded and queued again. Its price is then already reserved. Returns false if the job has ended or was erased.
 * Throws a JobFailure and changes nothing if the balance is too low.
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

/**
 * Returns true if the engine has free capacity for a job. `needs` has the language of the job, and says whether the job
 * needs speakers or a translation.
 */
type HasRoomFor = (needs: Needs) => boolean

/**
 * Moves the next pending job to the state `processing`, or to `downloading` if its media file is lost. Returns null if
 * no pending job can start. The accounts take turns (round robin), and the jobs of one account start in FIFO order.
 * Jobs for which the engine has no free capacity are passed over.
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
 * Moves a pending job to the state `to`. Also moves a job in the state `processing` whose media file is lost. Returns
 * null if the job has ended or was erased.
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
 * Finds the pending job that is started next. Returns null if no pending job can start. `hasRoomFor` is called once for
 * each kind of jobs (jobs with equal needs), and not for each job.
 */
function findNext(db: Db, hasRoomFor: HasRoomFor): Next | null {
  const kinds = db.list<Kind>(kindsOfPending)
  const startable = kinds.filter(kind => hasRoomFor(needsOf(kind)))
  if (startable.length === 0) return null
  if (startable.length === kinds.length) return db.find<Next>(nextOfAll)
  return db.find<Next>(nextOfKinds, { kinds: JSON.stringify(startable.map(({ needs }) => needs)) })
}

type Next = { id: string }

/**
 * The values that all pending jobs of one kind have in common. `needs` joins the other three values to one text, such
 * as `en 1 0`. The index of the pending jobs begins with this text, so a query finds the jobs of a kind fast.
 */
type Kind = { needs: string; language: string | null; diarize: number; translate: number }

function needsOf({ language, diarize, translate }: Kind): Needs {
  return { language, diarize: diarize === 1, translate: translate === 1 }
}

/**
 * Selects each kind of pending jobs once. The jobs of a kind have the same values of `language`, `diarize` and
 * `translate`. Reads one entry of the index for each kind, and not all jobs.
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
 * Selects the next pending job: the oldest one of the account whose last turn was the longest time ago. `first_pending`
 * is the number of the oldest pending job of an account. Triggers of the database keep this number up to date.
 */
const nextOfAll = `
  select jobs.id from accounts join jobs on jobs.seq = first_pending
  where first_pending is not null order by served_turn, first_pending limit 1`

/**
 * Selects the next pending job among the jobs of the kinds `$kinds`. The jobs of a kind have the same values of
 * `language`, `diarize` and `translate`. Chooses the account that has such a job and whose last turn was the longest
 * time ago. Then chooses the oldest of these jobs of the account.
 */
const nextOfKinds = `
  select jobs.id from accounts cross join jobs on jobs.seq = (
    select min(seq) from json_each($kinds) cross join jobs
    where state = 'pending' and needs = value and account_id = accounts.id
  )
  where first_pending is not null order by served_turn, first_pending limit 1`
