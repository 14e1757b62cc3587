// Ends jobs: a job is completed, fails, or is cancelled.

import { findReleased, release, settle } from '../accounts/ledger.ts'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { storeTranscript } from '../transcripts/store.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import { recordEvent } from './events.ts'
import { findJob, type Job, requireOwnJob } from './job.ts'
import { type Failure, moveJob } from './moves.ts'

/**
 * Completes a job in one transaction: charges the price, stores the transcript, and records the webhook event. Returns
 * null if the state is not `processing`, or if `fence` is not the number of the last claim. A claim gives the job to
 * this server or to a worker on another machine. `stored` is the number of utterances that are already in the database.
 */
export function completeJob(
  db: Db,
  id: string,
  transcript: Transcript,
  { fence, stored = 0 }: { fence: number; stored?: number },
): Job | null {
  return db.tx(() => {
    if (findJob(db, id)?.fence !== fence) return null
    const job = moveJob(db, id, 'completed')
    if (!job) return null
    settle(db, job.accountId, id, job.costUnits ?? 0)
    storeTranscript(db, job, transcript, stored)
    db.run('update jobs set language = $language where id = $id', { id, language: transcript.language })
    recordEvent(db, id, 'transcription.completed')
    return { ...job, language: transcript.language }
  })
}

/**
 * Moves a job to the state `failed`, and releases the money that was reserved for it. Returns null if the job has
 * already ended or was erased.
 */
export function failJob(db: Db, id: string, failure: Failure): Job | null {
  return db.tx(() => {
    const job = moveJob(db, id, 'failed', failure)
    if (!job) return null
    release(db, job.accountId, id)
    recordEvent(db, id, 'transcription.failed')
    return job
  })
}

export type Cancelled = { job: Job; releasedUnits: number }

/**
 * Cancels a job of this account. `ended` is true if this call ended the job, and false if the job was already
 * cancelled.
 */
export function cancelJob(db: Db, accountId: string, id: string): Cancelled & { ended: boolean } {
  return db.tx(() => {
    const job = requireOwnJob(db, accountId, id)
    if (job.errorCode === 'CANCELLED') return { job, releasedUnits: findReleased(db, id), ended: false }
    const cancelled = failJob(db, id, { code: 'CANCELLED' })
    if (!cancelled) throw new ApiError('CONFLICT', `The transcription is already ${job.state}.`)
    return { job: cancelled, releasedUnits: findReleased(db, id), ended: true }
  })
}
