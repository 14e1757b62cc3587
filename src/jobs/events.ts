// The events of jobs, and the schemas of their webhook bodies. An event is recorded in the transaction that changes the
// state of the job.

import { type Static, Type } from '@sinclair/typebox'
import { oneOf, record } from '../base/schema.ts'
import type { Db } from '../db/db.ts'
import { type JobErrorCode, jobErrors } from '../errors.ts'
import { result } from '../transcripts/transcript.ts'

/** The schema of the error of a failed job. */
export const jobError = Type.Object(
  { code: oneOf(Object.keys(jobErrors) as JobErrorCode[]), message: Type.String() },
  { $id: 'JobError' },
)

/** The schema of the texts that the caller stored with the job. */
export const metadata = record(Type.String(), {
  description: 'As it was given with the job; empty without',
})

const measured = { duration_seconds: Type.Number(), cost_cents: Type.Number() }

/** The JSON schema of the webhook body for each event. */
export const events = {
  'transcription.processing': Type.Object(
    {
      event: Type.Literal('transcription.processing'),
      transcription_id: Type.String({ format: 'uuid' }),
      metadata,
      status: Type.Literal('processing'),
      ...measured,
    },
    { $id: 'ProcessingEvent' },
  ),
  'transcription.completed': Type.Object(
    {
      event: Type.Literal('transcription.completed'),
      transcription_id: Type.String({ format: 'uuid' }),
      metadata,
      status: Type.Literal('completed'),
      ...measured,
      result,
    },
    { $id: 'CompletedEvent' },
  ),
  'transcription.failed': Type.Object(
    {
      event: Type.Literal('transcription.failed'),
      transcription_id: Type.String({ format: 'uuid' }),
      metadata,
      status: Type.Literal('failed'),
      error: jobError,
    },
    { $id: 'FailedEvent' },
  ),
}

export type JobError = Static<typeof jobError>
export type JobEvent = keyof typeof events
export type EventBody = Static<(typeof events)[JobEvent]>

type Outcome = { errorCode: JobErrorCode | null; errorMessage: string | null }

export function errorOf({ errorCode, errorMessage }: Outcome): JobError {
  const code = errorCode ?? 'INTERNAL_ERROR'
  return { code, message: errorMessage ?? jobErrors[code] }
}

/**
 * Records an event of a job, for the later delivery to the webhook of the job. Does nothing if the job has no webhook.
 */
export function recordEvent(db: Db, jobId: string, event: JobEvent): void {
  db.run(
    `insert into webhook_events (job_id, account_id, event, created_at)
     select id, account_id, $event, $now from jobs where id = $jobId and webhook_url is not null`,
    { jobId, event, now: db.now() },
  )
}
