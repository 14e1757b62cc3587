// Builds the webhook body of an event from its job.

import { centsOf } from '../accounts/price.ts'
import type { Db } from '../db/db.ts'
import { findTranscript } from '../transcripts/store.ts'
import { type EventBody, errorOf, type JobEvent } from './events.ts'
import type { Job } from './job.ts'

/** Returns the webhook body of an event as JSON. Returns null when the body needs a transcript that was deleted. */
export function bodyOf(db: Db, job: Job, event: JobEvent): string | null {
  const body = eventBody(db, job, event)
  return body && JSON.stringify(body)
}

function eventBody(db: Db, job: Job, event: JobEvent): EventBody | null {
  const known = { transcription_id: job.id, metadata: job.metadata }
  const measured = { duration_seconds: (job.durationMs ?? 0) / 1000, cost_cents: centsOf(job.costUnits ?? 0) }
  switch (event) {
    case 'transcription.processing':
      return { event, ...known, status: 'processing', ...measured }
    case 'transcription.completed': {
      const result = findTranscript(db, job.id)
      return result && { event, ...known, status: 'completed', ...measured, result }
    }
    case 'transcription.failed':
      return { event, ...known, status: 'failed', error: errorOf(job) }
  }
}
