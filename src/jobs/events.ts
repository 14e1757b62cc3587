// The events of jobs and their webhook bodies. An event is recorded once, in the transaction that changes the state
// of the job.

import { type Static, Type } from '@sinclair/typebox'
import { oneOf } from '../base/schema.ts'
import type { Db } from '../db/db.ts'
import { type JobErrorCode, jobErrors } from '../errors.ts'
import { result } from '../transcripts/transcript.ts'

/** The error of a failed job. */
export const jobError = Type.Object(
  { code: oneOf(Object.keys(jobErrors) as JobErrorCode[]), message: Type.String() },
  { $id: 'JobError' },
)

const measured = { duration_seconds: Type.Number(), cost_cents: Type.Number() }

/** The JSON schema of the webhook body for each event. */
export const events = {
  'transcription.processing': Type.Object(
    {
      event: Type.Literal('transcription.processing'),
      transcription_id: Type.String(),
      status: Type.Literal('processing'),
      ...measured,
    },
    { $id: 'ProcessingEvent' },
  ),
  'transcription.completed': Type.Object(
    {
      event: Type.Literal('transcription.completed'),
      transcription_id: Type.String(),
      status: Type.Literal('completed'),
      ...measured,
      result,
    },
    { $id: 'CompletedEvent' },
  ),
  'transcription.failed': Type.Object(
    {
      event: Type.Literal('transcription.failed'),
      transcription_id: Type.String(),
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

/** Records an event, unless the job has no webhook. */
export function recordEvent(db: Db, jobId: string, event: JobEvent): void {
  db.run(
    `insert into webhook_events (job_id, event, created_at)
     select id, $event, $now from jobs where id = $jobId and webhook_url is not null`,
    { jobId, event, now: db.now() },
  )
}

/**
 * An event that has not been sent. `sealedBody` is its encrypted body when the job was deleted before the
 * delivery. It is null otherwise: the body is then built from the job.
 */
export type DueEvent = { id: number; event: JobEvent; sealedBody: string | null }

/** Lists the events of a job that have not been sent, oldest first. */
export function listDueEvents(db: Db, jobId: string): DueEvent[] {
  return db.list(
    `select id, event, sealed_body as sealedBody from webhook_events
     where job_id = $jobId and sent_at is null order by id`,
    { jobId },
  )
}

export function keepBody(db: Db, eventId: number, sealedBody: string): void {
  db.run('update webhook_events set sealed_body = $sealedBody where id = $eventId', { eventId, sealedBody })
}

export function markAttempted(db: Db, eventId: number): void {
  db.run('update webhook_events set attempted_at = $now where id = $eventId', { eventId, now: db.now() })
}

/** Marks an event as sent, so that the event is not sent again. The receiver may have refused the event. */
export function markSent(db: Db, eventId: number): void {
  db.run('update webhook_events set sent_at = $now, sealed_body = null where id = $eventId', {
    eventId,
    now: db.now(),
  })
}

export function listJobsWithDueEvents(db: Db): { id: string; accountId: string }[] {
  return db.list(
    `select distinct jobs.id, account_id as accountId from webhook_events join jobs on jobs.id = job_id
     where sent_at is null`,
  )
}
