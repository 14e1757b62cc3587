// Sends events of jobs to webhooks, in the background. The due events of a job are sent one at a time, the oldest
// first. If an attempt fails, the event is due again only after a pause. Newer events of the job are sent during this
// pause, so a webhook may get them before the older event.

import { findSigningSecret } from '../accounts/signing-secret.ts'
import { diskRefusalOf } from '../base/disk-refusal.ts'
import { errorFields, log } from '../base/log.ts'
import { LaterTurn } from '../base/next-turn.ts'
import type { Secrets } from '../base/seal.ts'
import { openSemaphore } from '../base/semaphore.ts'
import type { Clock, Db } from '../db/db.ts'
import { isDamage, refusalOf } from '../db/refusal.ts'
import { ApiError } from '../errors.ts'
import { limits } from '../limits.ts'
import { type Breaker, openBreaker } from '../webhooks/breaker.ts'
import type { Outcome } from '../webhooks/deliver.ts'
import { type Delivery, findDelivery, listAnsweredAddresses, reopenDelivery } from './deliveries.ts'
import {
  type DueEvent,
  keepBody,
  listDueEvents,
  listJobsWithDueEvents,
  listOpenEvents,
  markAttempted,
  markEnded,
} from './due-events.ts'
import { bodyOf } from './event-body.ts'
import { findJob, type Job } from './job.ts'

/** A request to a webhook. */
type Message = { webhookUrl: string; accountId: string; body: string; signingSecret: string }

type SentJob = Pick<Job, 'id' | 'accountId' | 'webhookUrl'>

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
  /** The maximum number of retries for the delivery of an event. */
  retries: number
  onOutcome: (outcome: string) => void
}

export class WebhookSender {
  readonly #parts: Parts
  readonly #sending = new Map<string, Promise<void>>()
  /**
   * Outcomes of events that could not be stored, because the database is locked or the disk refuses the write. The key
   * is the id of the event. The sender stores the outcomes later, and does not repeat the attempts. The outcome is null
   * if no attempt was made, because the event has no body, no address or no signing key.
   */
  readonly #unrecorded = new Map<number, Outcome | null>()
  readonly #semaphore = openSemaphore(limits.webhooksInFlightMax)
  /**
   * A delivery to a receiver that has not answered lately needs a slot of this semaphore and a slot of `#semaphore`.
   * This semaphore has fewer slots, so some slots of `#semaphore` remain for receivers that answer.
   */
  readonly #unanswered = openSemaphore(limits.webhooksUnansweredMax)
  /**
   * A delivery to a receiver whose last delivery timed out needs a slot of this semaphore, and then one of
   * `#unanswered`. The first delivery to a receiver needs a slot of `#unanswered`, but none of this semaphore. This
   * semaphore has fewer slots than `#unanswered`. So receivers that time out again and again leave some slots of
   * `#unanswered` for first deliveries.
   */
  readonly #silent = openSemaphore(limits.webhooksSilentMax)
  /** Each receiver that has not answered lately gets one delivery at a time. The key is the name of the receiver. */
  readonly #unansweredOfReceiver = openSemaphore(Number.POSITIVE_INFINITY, 1)
  readonly #breaker: Breaker
  /**
   * The planned call that reads the next page of jobs with due events. A page has at most `webhookJobsReadMax` jobs.
   * Each later page is read in a later turn of the event loop, so that reading many jobs does not block the server.
   */
  readonly #nextPage = new LaterTurn()
  readonly #closing = new AbortController()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#breaker = openBreaker(parts.monotonic)
    for (const { accountId, webhookUrl } of listAnsweredAddresses(parts.db))
      this.#breaker.answered(receiverOf(accountId, webhookUrl))
  }

  /** Starts to send the due events of a job to its webhook. */
  send(job: SentJob): void {
    const { id: jobId } = job
    const { signal } = this.#closing
    if (this.#sending.has(jobId) || signal.aborted) return
    const sent = this.#inTurn(job, () => this.#sendAll(jobId))
      .catch(error => {
        // If the database cannot be used, the error is not logged: `resume` sends the events of this job later.
        if (!signal.aborted && !refusalOf(error) && !diskRefusalOf(error))
          log.error('webhook failed', { job_id: jobId, ...errorFields(error) })
      })
      .finally(() => this.#sending.delete(jobId))
    this.#sending.set(jobId, sent)
  }

  /**
   * Calls `work` when the job has a slot of `#semaphore`. If the receiver of the job has not answered lately, the job
   * must first get slots of other semaphores. Otherwise, such receivers could block the deliveries to receivers that
   * answer. A job gets these slots in this order:
   *
   * - One of `#unansweredOfReceiver`, which has one slot for each receiver.
   * - Only if the last delivery to the receiver timed out: one of the `webhooksSilentMax` slots of `#silent`.
   * - One of the `webhooksUnansweredMax` slots of `#unanswered`.
   *
   * As soon as a receiver answers, its waiting jobs need only a slot of `#semaphore`.
   */
  async #inTurn({ accountId, webhookUrl }: SentJob, work: () => Promise<void>): Promise<void> {
    // The semaphores do not get the signal of `#closing`, because each waiting job would add a listener to this signal.
    // Adding 60,000 listeners to one signal takes 17 s.
    const run = () => this.#semaphore.run(accountId, work)
    const receiver = webhookUrl === null ? null : receiverOf(accountId, webhookUrl)
    if (receiver === null || this.#breaker.answers(receiver)) return await run()
    const attempt = async () => {
      if (this.#breaker.answers(receiver)) return false
      const start = () => this.#unanswered.run(accountId, run)
      await (this.#breaker.isSilent(receiver) ? this.#silent.run(accountId, start) : start())
      return true
    }
    if (!(await this.#unansweredOfReceiver.run(receiver, attempt))) await run()
  }

  /**
   * Starts to send the due events of all jobs. Called at the start of the server, and then at regular intervals. Does
   * nothing while an earlier call still reads the jobs.
   */
  resume(): void {
    if (!this.#nextPage.isPlanned) this.#sendPage('')
  }

  /** Waits until the running deliveries end. Aborts the deliveries that still run after `stopGraceMs`. */
  async close(): Promise<void> {
    const grace = setTimeout(() => this.#closing.abort(), limits.stopGraceMs)
    this.#nextPage.cancel()
    await Promise.all(this.#sending.values())
    clearTimeout(grace)
    this.#closing.abort()
  }

  /**
   * Sends an event of this account again, with retries as usual. Throws an ApiError if the event is unknown, or if its
   * body needs a transcript that was deleted.
   */
  redeliver(accountId: string, id: { jobId: string; event: string }): Delivery {
    const { db } = this.#parts
    const { reopened, job } = db.tx(() => {
      const delivery = findDelivery(db, accountId, id)
      const job = delivery && findJob(db, delivery.jobId)
      if (!delivery || !job) throw new ApiError('DELIVERY_NOT_FOUND')
      const hasBody = listOpenEvents(db, job.id).some(({ event }) => event === delivery.event)
      if (!hasBody && bodyOf(db, job, delivery.event) === null)
        throw new ApiError('GONE', 'The transcript of this event was deleted.')
      reopenDelivery(db, delivery)
      return { reopened: findDelivery(db, accountId, id) ?? delivery, job }
    })
    this.send(job)
    return reopened
  }

  /**
   * Stores the encrypted bodies of the events of a job that still need a delivery attempt. Must be called before the
   * transcript is deleted, because a body may contain it.
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

  /** Sends the due events of the jobs in one page. The next page is read in a later turn of the event loop. */
  #sendPage(after: string): void {
    const limit = limits.webhookJobsReadMax
    const jobs = listJobsWithDueEvents(this.#parts.db, { after, limit })
    for (const job of jobs) this.send(job)
    const last = jobs.at(-1)
    if (!last || jobs.length < limit) return
    this.#nextPage.plan(() => {
      try {
        this.#sendPage(last.id)
      } catch (error) {
        log.error('due webhooks not read', errorFields(error))
      }
    })
  }

  /**
   * Sends the due events of a job, one after the other. Reads them again after each delivery, because another event may
   * have been recorded.
   */
  async #sendAll(jobId: string): Promise<void> {
    const { db } = this.#parts
    const { signal } = this.#closing
    while (!signal.aborted) {
      if (listDueEvents(db, jobId).length === 0) return
      // Waits until the event is flushed to the disk. Otherwise a power cut could delete an event that the webhook has
      // already received. If the flush fails, `durable` rejects, and the event stays due.
      await db.durable()
      // The job may have been deleted during the wait. The body of a request can then no longer be made from the job,
      // but it was stored as `sealedBody` before the deletion. The due events are read again to get `sealedBody`.
      const [due] = listDueEvents(db, jobId)
      if (!due) return
      const { retries } = this.#parts
      if (!this.#unrecorded.has(due.id)) {
        const message = this.#readMessage(jobId, due)
        markAttempted(db, due.id)
        const outcome = message === null ? null : await this.#attempt(jobId, due, message)
        // If the server stops during the delivery, the event stays due, and is sent after the next start.
        if (signal.aborted) return
        this.#unrecorded.set(due.id, outcome)
      }
      markEnded(db, due.id, this.#unrecorded.get(due.id) ?? null, { retries })
      this.#unrecorded.delete(due.id)
    }
  }

  /**
   * Reads the request that delivers an event. Returns null if the event has no body, no address or no signing key.
   * Returns `unreadable` if a sealed value cannot be opened. Throws if the database cannot be read: the event then stays
   * due, and this attempt does not count.
   */
  #readMessage(jobId: string, { event, sealedBody }: DueEvent): Message | 'unreadable' | null {
    const { db, secrets } = this.#parts
    try {
      const job = findJob(db, jobId)
      if (!job?.webhookUrl || job.keyId === null) return null
      const body = sealedBody === null ? bodyOf(db, job, event) : secrets.open(sealedBody)
      if (body === null) return null
      const signingSecret = findSigningSecret(db, secrets, job.keyId)
      return { webhookUrl: job.webhookUrl, accountId: job.accountId, body, signingSecret }
    } catch (error) {
      if (refusalOf(error) || isDamage(error)) throw error
      log.error('webhook failed', { job_id: jobId, ...errorFields(error) })
      return 'unreadable'
    }
  }

  /** Makes one attempt to deliver an event to its webhook. */
  async #attempt(jobId: string, { event }: DueEvent, message: Message | 'unreadable'): Promise<Outcome> {
    const { db, deliver, onOutcome } = this.#parts
    const { signal } = this.#closing
    if (message === 'unreadable') return { kind: 'broken' }
    const { webhookUrl, accountId, body, signingSecret } = message
    try {
      const outcome = await this.#breaker.run(receiverOf(accountId, webhookUrl), () =>
        deliver(webhookUrl, body, { accountId, signingSecret, nowMs: db.now(), signal }),
      )
      onOutcome(outcome.kind)
      const write = outcome.kind === 'delivered' ? log.info : log.warn
      const { kind, ...details } = outcome
      const host = URL.parse(webhookUrl)?.host
      const about = { job_id: jobId, account_id: accountId, webhook_event: event }
      // Only the host of the address is logged. The other parts are private to the account, and may contain a secret.
      write('webhook', { ...about, host, outcome: kind, ...details })
      return outcome
    } catch (error) {
      if (!signal.aborted) log.error('webhook failed', { job_id: jobId, ...errorFields(error) })
      return { kind: 'broken' }
    }
  }
}

/**
 * Returns the name of the receiver of a webhook: the id of the account and the host of the webhook. The name contains
 * the account, so no account can block the deliveries of another one.
 */
function receiverOf(accountId: string, webhookUrl: string): string {
  return `${accountId} ${URL.parse(webhookUrl)?.host}`
}
