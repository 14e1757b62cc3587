// Sends events to webhooks: one after another within a job, and a job never waits for them.

import { findSigningSecret } from '../accounts/key.ts'
import { centsOf } from '../accounts/price.ts'
import { errorFields, log } from '../base/log.ts'
import type { Secrets } from '../base/seal.ts'
import { openSemaphore } from '../base/semaphore.ts'
import type { Clock, Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { type Breaker, openBreaker } from '../webhooks/breaker.ts'
import type { Outcome } from '../webhooks/deliver.ts'
import { type EventBody, errorOf, type JobEvent, listJobsWithDueEvents, takeEvent } from './events.ts'
import { findJob, findTranscript, type Job } from './job.ts'

type JobOfAccount = Pick<Job, 'id' | 'accountId'>

type Deliver = (
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
        if (!signal.aborted) log.error('webhook failed', { job_id: jobId, ...errorFields(error) })
      })
      .finally(() => this.#sending.delete(jobId))
    this.#sending.set(jobId, sent)
  }

  /** Sends, after a restart, the events that are still due. */
  resume(): void {
    for (const job of listJobsWithDueEvents(this.#parts.db)) this.send(job)
  }

  /** Waits a while for deliveries under way, then drops them. */
  async close(): Promise<void> {
    const grace = setTimeout(() => this.#closing.abort(), limits.stopGraceMs)
    await Promise.all(this.#sending.values())
    clearTimeout(grace)
    this.#closing.abort()
  }

  /** Looks for the next event after each delivery: it may have come meanwhile. */
  async #sendAll(jobId: string): Promise<void> {
    const { db, secrets, deliver, onOutcome } = this.#parts
    const { signal } = this.#closing
    while (!signal.aborted) {
      const event = takeEvent(db, jobId)
      if (!event) return
      const job = findJob(db, jobId)
      const body = job && bodyOf(db, job, event)
      if (!job?.webhookUrl || !body) continue
      const signingSecret = findSigningSecret(db, secrets, job.keyId)
      const { webhookUrl, accountId } = job
      await db.durable()
      const outcome = await this.#breaker.run(receiverOf(accountId, webhookUrl), () =>
        deliver(webhookUrl, JSON.stringify(body), { accountId, signingSecret, nowMs: db.now(), signal }),
      )
      onOutcome(outcome.kind)
      log.info('webhook', { job_id: jobId, webhook_event: event, outcome: outcome.kind })
    }
  }
}

/** Accounts share no breaker: one of them could make a host that many use time out for itself. */
function receiverOf(accountId: string, webhookUrl: string): string {
  return `${accountId} ${URL.parse(webhookUrl)?.host}`
}

/** Null when the transcript was deleted before its event could be sent. */
function bodyOf(db: Db, job: Job, event: JobEvent): EventBody | null {
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
