// The life of a job, from accepted to ended. Its state is in the database; the runner has the work under way.

import { LedgerError } from '../accounts/ledger.ts'
import { errorFields, log } from '../base/log.ts'
import type { Config } from '../config.ts'
import { type Db, refusalOf } from '../db/db.ts'
import type { Engine } from '../engine/protocol.ts'
import { JobFailure } from '../errors.ts'
import type { Media } from '../media/media.ts'
import { type Download, type Ingest, openIngest } from './ingest.ts'
import {
  type Cancelled,
  cancelJob,
  completeJob,
  deleteJob,
  failJob,
  findJob,
  type Job,
  queueJob,
  restartTimeouts,
  setProgress,
  startNextJob,
} from './job.ts'
import { listStuckJobs, listUnfinishedJobs } from './list.ts'
import { mediaPath, removeMedia } from './media-files.ts'
import { throttled, transcribeProgress } from './progress.ts'
import { isTerminal, timeouts } from './states.ts'
import type { WebhookSender } from './webhook-sender.ts'
import { WorkUnderWay } from './work.ts'

type Parts = {
  db: Db
  config: Config
  media: Media
  engine: Engine
  download: Download
  webhooks: WebhookSender
  /** Called once for every job that ends. */
  onEnd: (job: Job) => void
}

/** What a step of a job works with. */
type Work = { job: Job; signal: AbortSignal; db: Db; config: Config; engine: Engine; ingest: Ingest }

/** Writes what a step came to. Gives the job when that ended it. */
type End = () => Job | null

export class Runner {
  readonly #parts: Parts
  readonly #ingest: Ingest
  readonly #underWay = new WorkUnderWay()
  /** Jobs that a restart found at an engine. They go first. */
  readonly #interrupted = new Map<string, Job>()
  /** What steps came to while the database was locked or the disk was full, by job. */
  readonly #unwritten = new Map<string, { job: Job; end: End }>()
  #recognising = 0
  #closing = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#ingest = openIngest(parts)
    parts.engine.onReady(() => this.pump())
  }

  /** Starts on a job that was just accepted. */
  start(jobId: string): void {
    const job = findJob(this.#parts.db, jobId)
    if (job) this.#prepare(job)
  }

  /** Cancels a job of this account and stops the work on it. A repeat gives the same answer. */
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

  /** Gives waiting jobs to engines that are free. */
  pump(): void {
    const { db, engine, webhooks } = this.#parts
    while (!this.#closing && engine.state().ready && this.#recognising < engine.capacity) {
      const job = takeFirst(this.#interrupted) ?? startIfWritable(db)
      if (!job) return
      webhooks.send(job)
      this.#recognising += 1
      this.#work(job, recognise).then(() => {
        this.#recognising -= 1
        this.pump()
      })
    }
  }

  /** Fails the jobs that have been in one state for too long. */
  failStuckJobs(): void {
    const { db, config } = this.#parts
    for (const { state, setting, code } of timeouts) {
      for (const { id } of listStuckJobs(db, { state, timeoutMs: config[setting] })) {
        const failed = failJob(db, id, { code })
        if (failed) this.#stop(failed)
      }
    }
  }

  /** Tries again to write what the database did not take. */
  writeEnds(): void {
    for (const { job, end } of [...this.#unwritten.values()]) {
      this.#write(job, end)
      if (this.#unwritten.has(job.id)) return
    }
    this.#parts.webhooks.resume()
  }

  /** Goes on, after a restart, with every job that had not ended. */
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
    if (job.state === 'processing') this.#interrupted.set(job.id, job)
    else if (job.state !== 'pending') this.#prepare(job)
  }

  #prepare(job: Job): void {
    if (!this.#closing) this.#work(job, prepare).then(() => this.pump())
  }

  /** Does a step of a job. An error ends the job, unless the step was stopped. */
  #work(job: Job, step: (work: Work) => Promise<End>): Promise<void> {
    const { db, config, engine } = this.#parts
    return this.#underWay.run(job.id, async signal => {
      const work = { job, signal, db, config, engine, ingest: this.#ingest }
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

  /** Begins the step of a job again. */
  #repeat(jobId: string): null {
    const job = findJob(this.#parts.db, jobId)
    if (job && !isTerminal(job.state)) this.#resumeJob(job)
    return null
  }

  /** Writes what a step came to, or keeps it for a sweep when the database does not take it. */
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

  /** Stops the work on a job that was ended from outside. */
  #stop(job: Job): void {
    this.#interrupted.delete(job.id)
    this.#unwritten.delete(job.id)
    this.#underWay.stop(job.id)
    this.#end(job)
  }

  #end(job: Job): void {
    this.#parts.webhooks.send(job)
    this.#parts.onEnd(job)
    log.info(`job ${job.state}`, { job_id: job.id, code: job.errorCode, audio_ms: job.durationMs })
  }
}

/** Gets the media, inspects it, and queues the job. */
async function prepare({ job, signal, db, config, ingest }: Work): Promise<End> {
  const inspection = await ingest(job, signal)
  signal.throwIfAborted()
  return () => {
    if (!inspection) return null
    const { durationMs, codec } = inspection
    const { pricePerHourCents } = config
    if (queueJob(db, job.id, { durationMs, pricePerHourCents }))
      log.info('job queued', { job_id: job.id, duration_ms: durationMs, codec })
    return null
  }
}

async function recognise({ job, signal, db, config, engine }: Work): Promise<End> {
  const durationMs = job.durationMs ?? 0
  const tell = throttled(progress => setProgress(db, job.id, progress))
  const transcript = await engine.transcribe(
    {
      path: mediaPath(config.dataDir, job),
      durationMs,
      language: job.language,
      diarize: job.diarize,
      speakerCount: job.speakerCount,
      align: job.align,
    },
    {
      signal,
      onSeconds: seconds => tell(transcribeProgress(seconds, durationMs / 1000)),
    },
  )
  signal.throwIfAborted()
  return () => completeJob(db, job.id, transcript)
}

/** What the account is told of an error. A charge that cannot be settled takes the whole completion back with it. */
function failureOf(job: Job, error: unknown): JobFailure {
  if (error instanceof JobFailure) return error
  const isBilling = error instanceof LedgerError
  log.error(isBilling ? 'charge not settled' : 'job broke', { job_id: job.id, ...errorFields(error) })
  return new JobFailure(isBilling ? 'BILLING_ERROR' : 'INTERNAL_ERROR')
}

/** Null also when the database does not take it: the sweeps pump again. */
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
