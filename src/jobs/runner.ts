// Runs the steps of each job until the job ends. The state of a job is stored in the database. A running step exists
// only in memory, and is lost at a restart of the server.

import { log } from '../base/log.ts'
import type { Secrets } from '../base/seal.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import { refusalOf } from '../db/refusal.ts'
import type { Engine } from '../engine/engine.ts'
import type { Media } from '../media/media.ts'
import { deleteJob } from './delete.ts'
import { listOldJobs, listStuckJobs, listUnfinishedJobs } from './due-jobs.ts'
import { type Cancelled, cancelJob, failJob } from './end.ts'
import { failureOf, logEnd } from './failure.ts'
import { type Download, type Ingest, openIngest, type Pause } from './ingest.ts'
import { findJob, type Job } from './job.ts'
import type { LiveJobs } from './live.ts'
import { mustDownloadAgain } from './lost-media.ts'
import { removeMedia, removeMediaFile } from './media-files.ts'
import { restartTimeouts, restartTimeoutsOf } from './moves.ts'
import { prepare } from './prepare.ts'
import { startJob } from './queue.ts'
import { recognise } from './recognise.ts'
import { Recognitions } from './recognitions.ts'
import { isTerminal, timeouts } from './states.ts'
import { StepResults } from './step-results.ts'
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
  /**
   * A function that waits for a given time. It is called after a failed inspection of media: until the time has passed,
   * no further inspection for the same account starts. By default, the function uses a timer.
   */
  pause?: Pause
  webhooks: WebhookSender
  /**
   * A function that is called when a job ends in this process, or when its running step is stopped because another
   * process has ended the job.
   */
  onEnd: (job: Job) => void
}

export class Runner {
  readonly #parts: Parts
  readonly #ingest: Ingest
  readonly #underWay = new WorkUnderWay()
  readonly #recognitions: Recognitions
  readonly #results: StepResults
  #closing = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#ingest = openIngest(parts)
    this.#results = new StepResults(parts.db, job => this.#end(job))
    this.#recognitions = new Recognitions({
      db: parts.db,
      engine: parts.engine,
      recognise: job => this.#work(job, recognise),
      onStart: job => {
        parts.webhooks.send(job)
        parts.live.changed(job.id)
      },
      isMediaLost: job => mustDownloadAgain(parts.config.dataDir, job),
      download: job => this.#downloadAgain(job),
    })
    parts.engine.onReady(() => this.pump())
  }

  /** Starts the first step of a new job. */
  start(job: Job): void {
    this.#prepare(job)
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

  /** Starts the recognition of waiting jobs, until the engine has no free capacity. */
  pump(): void {
    this.#recognitions.pump()
  }

  /**
   * Fails the jobs whose timeout has passed. A timeout starts when the state of the job changes, and again at each
   * claim and at each start of the server. The time in which a job waits for an engine, a worker or the start of a
   * repeated download does not count.
   */
  failStuckJobs(): void {
    const { db, config, engine } = this.#parts
    const waiting = [this.#recognitions, engine, this.#ingest].flatMap(part => part.waitingJobs?.() ?? [])
    if (waiting.length > 0) restartTimeoutsOf(db, waiting)
    for (const { state, setting, code } of timeouts) {
      for (const { id } of listStuckJobs(db, { state, timeoutMs: config[setting] })) {
        const failed = failJob(db, id, { code })
        if (failed) this.#stop(failed)
      }
    }
  }

  /**
   * Deletes the jobs that ended at least `keptMs` milliseconds ago, in the same way as a DELETE request of the account.
   * A call deletes a limited number of jobs.
   */
  deleteOldJobs({ keptMs }: { keptMs: number }): void {
    const { db } = this.#parts
    for (const { accountId, id } of listOldJobs(db, { endedBefore: db.now() - keptMs }))
      this.delete(accountId, id)
  }

  /** Aborts the running steps of jobs that a command in another process has ended or erased. */
  stopEndedJobs(): void {
    for (const id of this.#underWay.jobIds()) {
      const job = findJob(this.#parts.db, id)
      if (job === null) {
        this.#abort(id)
        this.#parts.engine.ended?.(id)
      } else if (isTerminal(job.state)) this.#stop(job)
    }
  }

  /**
   * Stores the results of job steps (preparing the media, or recognising the speech) that could not be stored earlier,
   * because the database could not be used. Also repeats the steps that failed for this reason. When all results are
   * stored, sends the due webhook events.
   */
  writeEnds(): void {
    if (this.#results.writeAll()) this.#parts.webhooks.resume()
  }

  /** Continues all unfinished jobs after a start of the server. */
  resume(): void {
    restartTimeouts(this.#parts.db)
    for (const job of listUnfinishedJobs(this.#parts.db)) this.#resumeJob(job)
    this.pump()
  }

  async close(): Promise<void> {
    this.#closing = true
    this.#recognitions.close()
    await this.#underWay.stopAll()
  }

  #resumeJob(job: Job): void {
    if (this.#closing) return
    if (job.state === 'processing') this.#recognitions.resume(job)
    else if (job.state !== 'pending') this.#prepare(job)
  }

  #prepare(job: Job): void {
    if (this.#closing) return
    this.#work(job, prepare).then(() => {
      this.#removeIfDeleted(job)
      this.pump()
    })
  }

  #downloadAgain(job: Job): void {
    log.info('media downloaded again', { job_id: job.id })
    this.#parts.live.changed(job.id)
    this.#prepare(job)
  }

  /**
   * Removes the media file of a job that was deleted or erased during its download. The file was already removed when
   * the job was deleted or erased, but the download may have created the file after that.
   */
  #removeIfDeleted(job: Job): void {
    const { db, config } = this.#parts
    const found = findJob(db, job.id)
    if (found === null || found.deletedAt !== null) removeMediaFile(config.dataDir, job)
  }

  /**
   * Runs a step of a job and stores the result of the step. If the step was aborted, nothing is stored. If the step
   * failed because the database cannot be used at the moment (see `refusalOf`), the next sweep (periodic work of the
   * server) runs the step again. Any other error in the step fails the job, except if `#fail` starts a download
   * instead.
   */
  #work(job: Job, step: (work: Work) => Promise<End>): Promise<void> {
    const { db, config, secrets, engine, live } = this.#parts
    return this.#underWay.run(job.id, async signal => {
      const work = { job, signal, db, config, secrets, engine, live, ingest: this.#ingest }
      let end: End
      try {
        end = await step(work)
      } catch (error) {
        if (signal.aborted) return
        const refusal = refusalOf(error)
        if (refusal) {
          // The step is not repeated at once. As long as the database cannot be used, the step would run again and
          // again, and the server could do nothing else.
          log.warn('step repeated later', { job_id: job.id, database: refusal })
          this.#results.keep(job, () => this.#repeat(job.id))
          return
        }
        end = () => this.#fail(job, error)
      }
      this.#results.write(job, end)
    })
  }

  /**
   * Fails a job because of an error in its step. If its media file was lost during the recognition and can be
   * downloaded again, starts this download instead. For example, a worker finds no file if another server has taken
   * over.
   */
  #fail(job: Job, error: unknown): Job | null {
    const { db, config, engine } = this.#parts
    if (job.state !== 'processing' || !mustDownloadAgain(config.dataDir, job))
      return failJob(db, job.id, failureOf(job, error))
    const again = startJob(db, job, 'downloading')
    // If a worker on another machine has reported this error, the worker waits for an answer. `ended` sends the answer.
    engine.ended?.(job.id)
    if (again) this.#downloadAgain(again)
    return null
  }

  /**
   * Repeats the step of a job that failed because the database could not be used. A step is the preparation of the
   * media, or the recognition of the speech. Does nothing if the job has ended.
   */
  #repeat(jobId: string): null {
    const job = findJob(this.#parts.db, jobId)
    if (job && !isTerminal(job.state)) this.#resumeJob(job)
    return null
  }

  /** Handles the end of a job that did not end by the result of its running step. */
  #stop(job: Job): void {
    this.#abort(job.id)
    this.#end(job)
  }

  /**
   * Aborts the running step of a job that has ended. If a step of the job has a result that is not in the database yet,
   * discards this result.
   */
  #abort(jobId: string): void {
    this.#recognitions.forget(jobId)
    this.#results.discard(jobId)
    this.#underWay.stop(jobId)
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
