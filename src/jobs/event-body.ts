// Builds the webhook body of an event from its job.

import { centsOf } from '../accounts/price.ts'
import type { Db } from '../db/db.ts'
import { findTranscriptJson } from '../transcripts/find-transcript.ts'
import { type EventBody, errorOf, type JobEvent } from './events.ts'
import type { Job } from './job.ts'

/** Returns the webhook body of an event as JSON. Returns null if the body needs a transcript that was deleted. */
export function bodyOf(db: Db, job: Job, event: JobEvent): string | null {
  const body = JSON.stringify(eventBody(job, event))
  if (event !== 'transcription.completed') return body
  // The JSON of the transcript is inserted as text, because parsing it is slow for a recording of ten hours.
  const result = findTranscriptJson(db, job.id)
  return result && `${body.slice(0, -1)},"result":${result}}`
}

type Without<Body, Field extends string> = Body extends object ? Omit<Body, Field> : never

function eventBody(job: Job, event: JobEvent): Without<EventBody, 'result'> {
  const known = { transcription_id: job.id, metadata: job.metadata }
  const measured = { duration_seconds: (job.durationMs ?? 0) / 1000, cost_cents: centsOf(job.costUnits ?? 0) }
  switch (event) {
    case 'transcription.processing':
      return { event, ...known, status: 'processing', ...measured }
    case 'transcription.completed':
      return { event, ...known, status: 'completed', ...measured }
    case 'transcription.failed':
      return { event, ...known, status: 'failed', error: errorOf(job) }
  }
}
