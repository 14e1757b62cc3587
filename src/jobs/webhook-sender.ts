// Tells callers what became of their jobs: in order within a job, never holding one up.

import { signingSecretOf } from '../accounts/key.ts'
import { centsOf } from '../accounts/price.ts'
import { errorFields, log } from '../base/log.ts'
import type { Secrets } from '../base/seal.ts'
import { openSemaphore } from '../base/semaphore.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import type { Outcome } from '../webhooks/deliver.ts'
import { type EventBody, errorOf, type JobEvent, listJobsWithDueEvents, takeEvent } from './events.ts'
import { findJob, findTranscript, type Job } from './job.ts'

export type Deliver = (
  url: string,
  body: string,
  options: { signingSecret: string; nowMs: number; signal: AbortSignal },
) => Promise<Outcome>

export type Callbacks = {
  /** Sends what this job has to tell, if anything. */
  wake(jobId: string): void
  /** Sends what a crash left untold. */
  resume(): void
  /** Lets what is under way finish for a while, then drops it. */
  close(): Promise<void>
}

export function openCallbacks({
  db,
  secrets,
  deliver,
  onOutcome,
}: {
  db: Db
  secrets: Secrets
  deliver: Deliver
  onOutcome: (outcome: string) => void
}): Callbacks {
  const telling = new Map<string, Promise<void>>()
  const slots = openSemaphore(limits.webhooksInFlightMax)
  const closing = new AbortController()

  /** Looks again after each delivery: the next event may have come meanwhile. */
  async function tell(jobId: string): Promise<void> {
    while (!closing.signal.aborted) {
      const event = takeEvent(db, jobId)
      if (!event) return
      const job = findJob(db, jobId)
      const body = job && payload(db, job, event)
      if (!job?.webhookUrl || !body) continue
      const outcome = await deliver(job.webhookUrl, JSON.stringify(body), {
        signingSecret: signingSecretOf(db, secrets, job.keyId),
        nowMs: db.now(),
        signal: closing.signal,
      })
      onOutcome(outcome.kind)
      log.info('webhook', { job_id: jobId, webhook_event: event, outcome: outcome.kind })
    }
  }

  function wake(jobId: string): void {
    if (telling.has(jobId) || closing.signal.aborted) return
    const told = slots
      .run(() => tell(jobId), closing.signal)
      .catch(error => {
        if (!closing.signal.aborted) log.error('webhook failed', { job_id: jobId, ...errorFields(error) })
      })
      .finally(() => telling.delete(jobId))
    telling.set(jobId, told)
  }

  return {
    wake,
    resume: () => listJobsWithDueEvents(db).forEach(wake),
    async close() {
      const grace = setTimeout(() => closing.abort(), limits.stopGraceMs)
      await Promise.all(telling.values())
      clearTimeout(grace)
      closing.abort()
    },
  }
}

/** Null when there is nothing to tell any more: the transcript was deleted before its event could be sent. */
function payload(db: Db, job: Job, event: JobEvent): EventBody | null {
  const known = { transcription_id: job.id }
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
