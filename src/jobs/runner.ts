// Runs the steps of each job until the job ends. The state of a job is stored in the database. A running step exists
// only in memory, and is lost at a restart of the server.

import { LedgerError } from '../accounts/ledger.ts'
import { centsOf } from '../accounts/price.ts'
import { errorFields, log } from '../base/log.ts'
import type { Secrets } from '../base/seal.ts'
import type { Config } from '../config.ts'
import { type Db, refusalOf } from '../db/db.ts'
import type { Engine } from '../engine/engine.ts'
import { type JobErrorCode, JobFailure } from '../errors.ts'
import type { Media } from '../media/media.ts'
import { deleteJob } from './delete.ts'
import { listOldJobs, listStuckJobs, listUnfinishedJobs } from './due-jobs.ts'
import { type Cancelled, cancelJob, failJob } from './end.ts'
import { type Download, type Ingest, openIngest, type Pause } from './ingest.ts'
import { findJob, type Job } from './job.ts'
import type { LiveJobs } from './live.ts'
import { removeMedia } from './media-files.ts'
import { restartTimeout, restartTimeouts } from './moves.ts'
import { prepare } from './prepare.ts'
import { startNextJob } from './queue.ts'
import { recognise } from './recognise.ts'
import { isTerminal, timeouts } from './states.ts'
import type { End, Work } from './steps.ts'
import type { WebhookSender } from './webhook-sender.ts'
import { WorkUnderWay } from './work.ts'

type Parts = {
  db: Db
  config: Config
  secrets: Secrets
  media: Media
  engine: Engine
  live: LiveJobs
  download: Download
  /** The function that waits while an account must rest after a failed inspection of media. The default is a timer. */
  pause?: Pause
  webhooks: WebhookSender
  /** A function that is called once for each job, when the job ends. */
  onEnd: (job: Job) => void
}

export class Runner {
  readonly #parts: Parts
  readonly #ingest: Ingest
  readonly #underWay = new WorkUnderWay()
  /**
   * Jobs in the state `processing` whose recognition was interrupted, for example by a restart of the server. These
   * jobs are started before the pending jobs.
   */
  readonly #interrupted = new Map<string, Job>()
  /**
   * Results of steps, by the id of the job. These results are not in the database yet, because the database was locked
   * or full.
   */
  readonly #unwritten = new Map<string, { job: Job; end: End }>()
  #recognising = 0
  #closing = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#ingest = openIngest(parts)
    parts.engine.onReady(() => this.pump())
  }

  /** Starts the first step of a new job. */
  start(jobId: string): void {
    const job = findJob(this.#parts.db, jobId)
    if (job) this.#prepare(job)
  }

  /**
   * Cancels a job of this account, and aborts the running step of the job. If the job is already cancelled, changes
   * nothing.
   */
  cancel(accountId: string, jobId: string): Cancelled {
    const { ended, ...cancelled } = cancelJob(this.#parts.db, accountId, jobId)
    if (ended) this.#stop(cancelled.job)
    return cancelled
  }

  /** Deletes an ended job of this account, with its transcript and its media. */
  delete(accountId: string, jobId: string): void {
    const { db, config, webhooks } = this.#parts
    const deleted = db.tx(() => {
      webhooks.keepBodies(jobId)
      return deleteJob(db, accountId, jobId)
    })
    if (deleted) removeMedia(db, config.dataDir, deleted)
  }

  /** Starts the recognition of interrupted jobs, and then of pending jobs, until the engine has no free capacity. */
  pump(): void {
    const { db, engine, live, webhooks } = this.#parts
    while (!this.#closing && engine.state().ready && this.#recognising < engine.capacity) {
      const job = takeFirst(this.#interrupted) ?? startIfWritable(db)
      if (!job) return
      webhooks.send(job)
      live.changed(job.id)
      this.#recognise(job)
    }
  }

  /**
   * Fails the jobs that have been in their present state for longer than the timeout of this state. The time in which a
   * job waits for a worker does not count.
   */
  failStuckJobs(): void {
    const { db, config, engine } = this.#parts
    for (const id of engine.waitingJobs?.() ?? []) restartTimeout(db, id)
    for (const { state, setting, code } of timeouts) {
      for (const { id } of listStuckJobs(db, { state, timeoutMs: config[setting] })) {
        const failed = failJob(db, id, { code })
        if (failed) this.#stop(failed)
      }
    }
  }

  /**
   * Deletes the jobs that ended at least `keptMs` milliseconds ago, in the same way as a DELETE request of the account.
   */
  deleteOldJobs({ keptMs }: { keptMs: number }): void {
    const { db } = this.#parts
    for (const { accountId, id } of listOldJobs(db, { endedBefore: db.now() - keptMs }))
      this.delete(accountId, id)
  }

  /** Aborts the running steps of jobs that a command in another process has ended or deleted. */
  stopEndedJobs(): void {
    for (const id of this.#underWay.jobIds()) {
      const job = findJob(this.#parts.db, id)
      if (job === null) this.#underWay.stop(id)
      else if (isTerminal(job.state)) this.#stop(job)
    }
  }

  /**
   * Stores the results that could not be stored earlier, because the database was locked or full. Then sends the due
   * webhook events.
   */
  writeEnds(): void {
    for (const { job, end } of [...this.#unwritten.values()]) {
      this.#write(job, end)
      if (this.#unwritten.has(job.id)) return
    }
    this.#parts.webhooks.resume()
  }

  /** Continues all unfinished jobs after a start of the server. */
  resume(): void {
    restartTimeouts(this.#parts.db)
    for (const job of listUnfinishedJobs(this.#parts.db)) this.#resumeJob(job)
    this.pump()
  }

  async close(): Promise<void> {
    this.#closing = true
    await this.#underWay.stopAll()
  }

  #resumeJob(job: Job): void {
    const { id: jobId, worker, fence, attempts } = job
    if (this.#closing) return
    if (job.state === 'processing') {
      if (this.#parts.engine.mayBeHeld?.({ jobId, worker, fence, attempts })) this.#recognise(job)
      else this.#interrupted.set(jobId, job)
    } else if (job.state !== 'pending') this.#prepare(job)
  }

  #recognise(job: Job): void {
    this.#recognising += 1
    this.#work(job, recognise).then(() => {
      this.#recognising -= 1
      this.pump()
    })
  }

  #prepare(job: Job): void {
    if (!this.#closing) this.#work(job, prepare).then(() => this.pump())
  }

  /**
   * Runs a step of a job and stores the result of the step. An error in the step fails the job. If the step was
   * aborted, nothing is stored. If the step failed because the database was locked or full, the step is run again.
   */
  #work(job: Job, step: (work: Work) => Promise<End>): Promise<void> {
    const { db, config, secrets, engine, live } = this.#parts
    return this.#underWay.run(job.id, async signal => {
      const work = { job, signal, db, config, secrets, engine, live, ingest: this.#ingest }
      const end = await step(work).catch(
        (error): End =>
          () => {
            if (signal.aborted) return null
            if (refusalOf(error)) return this.#repeat(job.id)
            return failJob(db, job.id, failureOf(job, error))
          },
      )
      this.#write(job, () => {
        try {
          return end()
        } catch (error) {
          if (refusalOf(error)) throw error
          return failJob(db, job.id, failureOf(job, error))
        }
      })
    })
  }

  /** Starts the step of a job again. Does nothing if the job has ended. */
  #repeat(jobId: string): null {
    const job = findJob(this.#parts.db, jobId)
    if (job && !isTerminal(job.state)) this.#resumeJob(job)
    return null
  }

  /**
   * Stores the result of a step. If the database is locked or full, keeps the result in `#unwritten`, and a later sweep
   * stores it.
   */
  #write(job: Job, end: End): void {
    this.#unwritten.delete(job.id)
    try {
      const ended = end()
      if (ended) this.#end(ended)
    } catch (error) {
      const refusal = refusalOf(error)
      if (!refusal) throw error
      log.warn('end not written', { job_id: job.id, database: refusal })
      this.#unwritten.set(job.id, { job, end })
    }
  }

  /**
   * Handles the end of a job: aborts the running step of the job, and discards a result of the step that is not stored
   * yet.
   */
  #stop(job: Job): void {
    this.#interrupted.delete(job.id)
    this.#unwritten.delete(job.id)
    this.#underWay.stop(job.id)
    this.#end(job)
  }

  #end(job: Job): void {
    this.#parts.webhooks.send(job)
    this.#parts.live.changed(job.id)
    this.#parts.onEnd(job)
    this.#parts.engine.ended?.(job.id)
    const { db, config } = this.#parts
    if (config.mediaRetentionMs === 0) removeMedia(db, config.dataDir, job)
    logEnd(job)
  }
}

/** The error codes of failures that are not the fault of the account. Only the operator can correct their causes. */
const ownFaults = new Set<JobErrorCode>([
  'PROCESSING_ERROR',
  'CREATED_TIMEOUT',
  'PROCESSING_TIMEOUT',
  'BILLING_ERROR',
  'INTERNAL_ERROR',
])

function logEnd({ id, accountId, state, errorCode, durationMs, costUnits }: Job): void {
  const write = errorCode !== null && ownFaults.has(errorCode) ? log.warn : log.info
  write(`job ${state}`, {
    job_id: id,
    account_id: accountId,
    code: errorCode,
    audio_ms: durationMs,
    cost_cents: state === 'completed' ? centsOf(costUnits ?? 0) : 0,
  })
}

/**
 * Converts an error to the failure that the account sees. A LedgerError means that the account could not be charged for
 * the job; the job then fails with BILLING_ERROR.
 */
function failureOf(job: Job, error: unknown): JobFailure {
  if (error instanceof JobFailure) return error
  const isBilling = error instanceof LedgerError
  log.error(isBilling ? 'charge not settled' : 'job broke', { job_id: job.id, ...errorFields(error) })
  return new JobFailure(isBilling ? 'BILLING_ERROR' : 'INTERNAL_ERROR')
}

/**
 * Starts the next pending job. Returns null if no job is pending, or if the database is locked or full. If the database
 * is locked or full, a later sweep calls `pump` again.
 */
function startIfWritable(db: Db): Job | null {
  try {
    return startNextJob(db)
  } catch (error) {
    if (refusalOf(error) === null) throw error
    return null
  }
}

function takeFirst(jobs: Map<string, Job>): Job | null {
  for (const [id, job] of jobs) {
    jobs.delete(id)
    return job
  }
  return null
}
