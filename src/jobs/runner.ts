// Runs the two steps of each job until the job ends: preparing its media, and recognising the speech. The state of a
// job is in the database. A running step is only in memory, and is lost at a restart.

import { log } from '../base/log.ts'
import type { Secrets } from '../base/seal.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import { refusalOf } from '../db/refusal.ts'
import type { Engine } from '../engine/engine.ts'
import type { Media } from '../media/media.ts'
import { deleteJob } from './delete.ts'
import type { Download } from './downloads.ts'
import { listOldJobs, listStartedIds, listStartedJobs, listStuckJobs } from './due-jobs.ts'
import { type Cancelled, cancelJob, failJob } from './end.ts'
import { failureOf, logEnd } from './failure.ts'
import { type Ingest, openIngest, type Pause } from './ingest.ts'
import { findJob, type Job } from './job.ts'
import type { LiveJobs } from './live.ts'
import { mustDownloadAgain } from './lost-media.ts'
import { removeMedia, removeMediaFile, tryRemoveMedia } from './media-files.ts'
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
   * Waits for a given time after a failed inspection of media. During this time, no other inspection for the same
   * account starts. A failed inspection is not charged, so the wait limits the free work for an account.
   */
  pause?: Pause
  webhooks: WebhookSender
  /** Called when a job ends, also when another process has ended it while its step ran here. */
  onEnd: (job: Job) => void
}

export class Runner {
  readonly #parts: Parts
  readonly #ingest: Ingest
  readonly #underWay = new WorkUnderWay()
  readonly #recognitions: Recognitions
  readonly #results: StepResults
  /**
   * The jobs that waited for the engine, a worker or a download at the last call of `failStuckJobs`. When the wait of a
   * job has ended, its timeout starts again.
   */
  #waiting: ReadonlySet<string> = new Set()
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

  /** Cancels a job of this account, and aborts its running step. Changes nothing if the job is already cancelled. */
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
   * Fails a limited number of the jobs whose timeout has passed. The timeout of a job starts again when its state
   * changes, when a worker claims the job, and when the server starts. The time in which a job waits for the engine or
   * for a worker does not count. Nor does the time in which an interrupted download waits to begin again, for example
   * after a restart of the server.
   */
  failStuckJobs(): void {
    const { db, config, engine } = this.#parts
    const parts = [this.#recognitions, engine, this.#ingest]
    const waiting = new Set(parts.flatMap(part => part.waitingJobs?.() ?? []))
    const resumed = [...this.#waiting].filter(id => !waiting.has(id))
    restartTimeoutsOf(db, resumed)
    this.#waiting = waiting
    for (const { state, setting, code } of timeouts) {
      const stuck = listStuckJobs(db, { state, timeoutMs: config[setting] }).map(({ id }) => id)
      const held = stuck.filter(id => waiting.has(id))
      restartTimeoutsOf(db, held)
      for (const id of stuck) {
        const failed = waiting.has(id) ? null : failJob(db, id, { code })
        if (failed) this.#stop(failed)
      }
    }
  }

  /** Deletes a limited number of jobs that ended at least `keptMs` milliseconds ago. */
  deleteOldJobs({ keptMs }: { keptMs: number }): void {
    const { db } = this.#parts
    for (const { accountId, id } of listOldJobs(db, { endedBefore: db.now() - keptMs }))
      this.delete(accountId, id)
  }

  /**
   * Aborts the running steps of jobs that a command in another process has ended or erased. Such a command can also end
   * a job whose recognition was interrupted, for example by a restart, and which waits for the engine. Removes such a
   * job from the list of interrupted jobs.
   */
  stopEndedJobs(): void {
    // One statement finds all started jobs. With one statement for each job, 20,000 jobs would take 0.15 s in total.
    const started = listStartedIds(this.#parts.db)
    for (const id of [...this.#underWay.jobIds(), ...this.#recognitions.waitingJobs()])
      if (!started.has(id)) this.#stopIfEnded(id)
  }

  /**
   * Stores the results that the database could not store earlier, and repeats the steps that failed because of the
   * database. Then sends the due webhook events, but only if the database accepts writes now, because it must store the
   * outcome of each delivery. If the database has refused a result again, a small test write shows whether it accepts
   * writes. On a nearly full disk, it may refuse a long transcript and still accept the short outcomes.
   */
  writeEnds(): void {
    const { db, webhooks } = this.#parts
    if (this.#results.writeAll(id => this.#stopIfEnded(id)) || takesWrites(db)) webhooks.resume()
  }

  /** Continues all unfinished jobs after a start of the server. `pump` starts the pending ones. */
  resume(): void {
    restartTimeouts(this.#parts.db)
    for (const job of listStartedJobs(this.#parts.db)) this.#resumeJob(job)
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
   * Removes the media file of a job that was deleted or erased during its download. The download may have created the
   * file after the deletion.
   */
  #removeIfDeleted(job: Job): void {
    const { db, config } = this.#parts
    const found = findJob(db, job.id)
    if (found === null || found.deletedAt !== null) removeMediaFile(config.dataDir, job)
  }

  /**
   * Runs a step of a job and stores its result. Stores nothing if the step was aborted. If the step failed because the
   * database cannot be used, the step runs again later. Any other error is passed to `#fail`.
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
          // The step is not repeated at once. While the database cannot be used, the step would fail again and again.
          log.warn('step repeated later', { job_id: job.id, database: refusal })
          this.#results.keep(job, () => this.#repeat(job.id))
          return
        }
        end = () => this.#fail(job, error)
      }
      if (!this.#results.write(job, end) && !signal.aborted) this.#stopIfEnded(job.id)
    })
  }

  /**
   * Fails a job because of an error in its step. If the media file was lost during the recognition and can be
   * downloaded again, starts this download instead.
   */
  #fail(job: Job, error: unknown): Job | null {
    const { db, config, engine } = this.#parts
    if (job.state !== 'processing' || !mustDownloadAgain(config.dataDir, job))
      return failJob(db, job.id, failureOf(job, error))
    const again = startJob(db, job, 'downloading')
    // If a worker on another machine has reported the error, it waits for an answer. `ended` sends this answer.
    engine.ended?.(job.id)
    if (again) this.#downloadAgain(again)
    return null
  }

  /**
   * Repeats a step that failed because the database could not be used. `jobId` is the job of this step. Does nothing if
   * this job has ended.
   */
  #repeat(jobId: string): null {
    const job = findJob(this.#parts.db, jobId)
    if (job && !isTerminal(job.state)) this.#resumeJob(job)
    return null
  }

  /**
   * Aborts the running step of a job if a command in another process has ended or erased the job. If the job still
   * exists, also reports its end, for example by a webhook (`#end`).
   */
  #stopIfEnded(jobId: string): void {
    const job = findJob(this.#parts.db, jobId)
    if (job === null) {
      this.#abort(jobId)
      this.#parts.engine.ended?.(jobId)
    } else if (isTerminal(job.state)) this.#stop(job)
  }

  /**
   * Aborts the running step of a job that was ended by a cancel request, a timeout or another process. Then reports the
   * end of the job, for example by a webhook (`#end`).
   */
  #stop(job: Job): void {
    this.#abort(job.id)
    this.#end(job)
  }

  /** Aborts the running step of a job that has ended. Discards a result of the job that is not in the database yet. */
  #abort(jobId: string): void {
    this.#recognitions.forget(jobId)
    this.#results.discard(jobId)
    this.#ingest.discard(jobId)
    this.#underWay.stop(jobId)
  }

  #end(job: Job): void {
    this.#parts.webhooks.send(job)
    this.#parts.live.changed(job.id)
    this.#parts.onEnd(job)
    this.#parts.engine.ended?.(job.id)
    const { db, config } = this.#parts
    if (config.mediaRetentionMs === 0) tryRemoveMedia(db, config.dataDir, job)
    logEnd(job)
  }
}

function takesWrites(db: Db): boolean {
  try {
    db.probe()
    return true
  } catch (error) {
    if (refusalOf(error) === null) throw error
    return false
  }
}
