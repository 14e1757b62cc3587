// Sends events to webhooks in the background. The events of one job are sent in order.

import { findSigningSecret } from '../accounts/key.ts'
import { errorFields, log } from '../base/log.ts'
import type { Secrets } from '../base/seal.ts'
import { openSemaphore } from '../base/semaphore.ts'
import { type Clock, type Db, refusalOf } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { limits } from '../limits.ts'
import { type Breaker, openBreaker } from '../webhooks/breaker.ts'
import type { Outcome } from '../webhooks/deliver.ts'
import {
  type Delivery,
  type DueEvent,
  findDelivery,
  keepBody,
  listDueEvents,
  listJobsWithDueEvents,
  listOpenEvents,
  markAttempted,
  markEnded,
  reopenDelivery,
} from './deliveries.ts'
import { bodyOf } from './event-body.ts'
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
  /** The number of retries after a failed delivery. */
  retries: number
  onOutcome: (outcome: string) => void
}

export class WebhookSender {
  readonly #parts: Parts
  readonly #sending = new Map<string, Promise<void>>()
  /**
   * Outcomes of attempts that the database does not contain yet, by the id of the event. The database may be locked
   * or full. The sender stores such an outcome later and does not repeat its attempt. An outcome is null when the
   * event has no body or no address to send to.
   */
  readonly #unrecorded = new Map<number, Outcome | null>()
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
        // When the database is locked or full, no error is logged: a sweep sends the events later.
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
   * Sends an event of this account again and resets its number of attempts. Throws an ApiError when the event is
   * unknown, or when the body needs a transcript that was deleted.
   */
  redeliver(accountId: string, id: { jobId: string; event: string }): Delivery {
    const { db } = this.#parts
    const reopened = db.tx(() => {
      const delivery = findDelivery(db, accountId, id)
      const job = delivery && findJob(db, delivery.jobId)
      if (!delivery || !job) throw new ApiError('DELIVERY_NOT_FOUND')
      const hasBody = listOpenEvents(db, job.id).some(({ event }) => event === delivery.event)
      if (!hasBody && bodyOf(db, job, delivery.event) === null)
        throw new ApiError('GONE', 'The transcript of this event was deleted.')
      reopenDelivery(db, delivery)
      return findDelivery(db, accountId, id) ?? delivery
    })
    this.send({ id: reopened.jobId, accountId })
    return reopened
  }

  /**
   * Stores the encrypted bodies of the unsettled events of a job. Must be called before the transcript is deleted,
   * because a body may contain the transcript.
   */
  keepBodies(jobId: string): void {
    const { db, secrets } = this.#parts
    const job = findJob(db, jobId)
    if (!job) return
    for (const { id, event, sealedBody } of listOpenEvents(db, jobId)) {
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
      // If the flush fails, the error leaves this function and the event stays due.
      await db.durable()
      // The event is read again after the flush. If the job was deleted during the flush, `due.sealedBody` contains
      // the body.
      const [due] = listDueEvents(db, jobId)
      if (!due) return
      const { retries } = this.#parts
      if (!this.#unrecorded.has(due.id)) {
        markAttempted(db, due.id)
        const outcome = await this.#attempt(jobId, due)
        // If the shutdown aborted the delivery, the event stays due and is sent at the next start.
        if (signal.aborted) return
        this.#unrecorded.set(due.id, outcome)
      }
      markEnded(db, due.id, this.#unrecorded.get(due.id) ?? null, { retries })
      this.#unrecorded.delete(due.id)
    }
  }

  /** Makes one attempt to deliver an event. Returns null when the event has no body or no address to send to. */
  async #attempt(jobId: string, { event, sealedBody }: DueEvent): Promise<Outcome | null> {
    const { db, secrets, deliver, onOutcome } = this.#parts
    const { signal } = this.#closing
    try {
      const job = findJob(db, jobId)
      if (!job?.webhookUrl || job.keyId === null) return null
      const body = sealedBody === null ? bodyOf(db, job, event) : secrets.open(sealedBody)
      if (body === null) return null
      const signingSecret = findSigningSecret(db, secrets, job.keyId)
      const { webhookUrl, accountId } = job
      const outcome = await this.#breaker.run(receiverOf(accountId, webhookUrl), () =>
        deliver(webhookUrl, body, { accountId, signingSecret, nowMs: db.now(), signal }),
      )
      onOutcome(outcome.kind)
      const write = outcome.kind === 'delivered' ? log.info : log.warn
      write('webhook', { job_id: jobId, webhook_event: event, outcome: outcome.kind })
      return outcome
    } catch (error) {
      if (!signal.aborted) log.error('webhook failed', { job_id: jobId, ...errorFields(error) })
      return { kind: 'broken' }
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
