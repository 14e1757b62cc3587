// Sends events to webhooks in the background. The events of one job are sent in order.

import { findSigningSecret } from '../accounts/key.ts'
import { centsOf } from '../accounts/price.ts'
import { errorFields, log } from '../base/log.ts'
import type { Secrets } from '../base/seal.ts'
import { openSemaphore } from '../base/semaphore.ts'
import { type Clock, type Db, refusalOf } from '../db/db.ts'
import { limits } from '../limits.ts'
import { findTranscript } from '../transcripts/store.ts'
import { type Breaker, openBreaker } from '../webhooks/breaker.ts'
import type { Outcome } from '../webhooks/deliver.ts'
import {
  type DueEvent,
  type EventBody,
  errorOf,
  type JobEvent,
  keepBody,
  listDueEvents,
  listJobsWithDueEvents,
  markAttempted,
  markSent,
} from './events.ts'
import { findJob, type Job } from './job.ts'

type JobOfAccount = Pick<Job, 'id' | 'accountId'>

export type Deliver = (
  url: string,
  body: string,
  options: { accountId: string; signingSecret: string; nowMs: number; signal: AbortSignal },
) => Promise<Outcome>

type Parts = {
  db: Db
  secrets: Secrets
  deliver: Deliver
  monotonic: Clock
  onOutcome: (outcome: string) => void
}

export class WebhookSender {
  readonly #parts: Parts
  readonly #sending = new Map<string, Promise<void>>()
  /** Ids of sent events that the database could not mark as sent. These events are not sent again. */
  readonly #unrecorded = new Set<number>()
  readonly #semaphore = openSemaphore(limits.webhooksInFlightMax)
  readonly #breaker: Breaker
  readonly #closing = new AbortController()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#breaker = openBreaker(parts.monotonic)
  }

  /** Sends the due events of a job, in the background. */
  send({ id: jobId, accountId }: JobOfAccount): void {
    const { signal } = this.#closing
    if (this.#sending.has(jobId) || signal.aborted) return
    const sent = this.#semaphore
      .run(accountId, () => this.#sendAll(jobId), signal)
      .catch(error => {
        // No error is logged when the database was locked or full: a sweep tries again.
        if (!signal.aborted && !refusalOf(error))
          log.error('webhook failed', { job_id: jobId, ...errorFields(error) })
      })
      .finally(() => this.#sending.delete(jobId))
    this.#sending.set(jobId, sent)
  }

  /** Sends the due events of all jobs. Called after a restart and in a sweep. */
  resume(): void {
    for (const job of listJobsWithDueEvents(this.#parts.db)) this.send(job)
  }

  /** Waits until the running deliveries end. Aborts them after the grace period `stopGraceMs`. */
  async close(): Promise<void> {
    const grace = setTimeout(() => this.#closing.abort(), limits.stopGraceMs)
    await Promise.all(this.#sending.values())
    clearTimeout(grace)
    this.#closing.abort()
  }

  /**
   * Stores the encrypted bodies of the due events of a job. Must be called before the transcript is deleted,
   * because the transcript is a part of a body.
   */
  keepBodies(jobId: string): void {
    const { db, secrets } = this.#parts
    const job = findJob(db, jobId)
    if (!job) return
    for (const { id, event, sealedBody } of listDueEvents(db, jobId)) {
      const body = bodyOf(db, job, event)
      if (body !== null && sealedBody === null) keepBody(db, id, secrets.seal(body))
    }
  }

  /**
   * Sends the due events of a job, one after the other. After each delivery the due events are read again,
   * because a new event may have been recorded during the delivery.
   */
  async #sendAll(jobId: string): Promise<void> {
    const { db } = this.#parts
    const { signal } = this.#closing
    while (!signal.aborted) {
      if (listDueEvents(db, jobId).length === 0) return
      // If this flush to the disk fails, the error leaves the function and the event stays due.
      await db.durable()
      // The event is read again after the flush. If the job was deleted during the flush, the event now has
      // its body.
      const [due] = listDueEvents(db, jobId)
      if (!due) return
      if (!this.#unrecorded.has(due.id)) {
        markAttempted(db, due.id)
        await this.#attempt(jobId, due)
        // If the shutdown aborted the delivery, the event stays due and is sent at the next start.
        if (signal.aborted) return
        this.#unrecorded.add(due.id)
      }
      markSent(db, due.id)
      this.#unrecorded.delete(due.id)
    }
  }

  async #attempt(jobId: string, { event, sealedBody }: DueEvent): Promise<void> {
    const { db, secrets, deliver, onOutcome } = this.#parts
    const { signal } = this.#closing
    try {
      const job = findJob(db, jobId)
      if (!job?.webhookUrl || job.keyId === null) return
      const body = sealedBody === null ? bodyOf(db, job, event) : secrets.open(sealedBody)
      if (body === null) return
      const signingSecret = findSigningSecret(db, secrets, job.keyId)
      const { webhookUrl, accountId } = job
      const outcome = await this.#breaker.run(receiverOf(accountId, webhookUrl), () =>
        deliver(webhookUrl, body, { accountId, signingSecret, nowMs: db.now(), signal }),
      )
      onOutcome(outcome.kind)
      const write = outcome.kind === 'delivered' ? log.info : log.warn
      write('webhook', { job_id: jobId, webhook_event: event, outcome: outcome.kind })
    } catch (error) {
      if (!signal.aborted) log.error('webhook failed', { job_id: jobId, ...errorFields(error) })
    }
  }
}

/**
 * Returns the name of a circuit breaker: the account and the host. If accounts shared a circuit breaker, one
 * account could open it for the other accounts that use the same host.
 */
function receiverOf(accountId: string, webhookUrl: string): string {
  return `${accountId} ${URL.parse(webhookUrl)?.host}`
}

/** Returns the JSON of an event. Returns null when the JSON needs a transcript that was deleted. */
function bodyOf(db: Db, job: Job, event: JobEvent): string | null {
  const body = eventBody(db, job, event)
  return body && JSON.stringify(body)
}

function eventBody(db: Db, job: Job, event: JobEvent): EventBody | null {
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
