// The life of a job, from accepted to ended. State stands in the database; here is only what is under way.

import { errorFields, log } from '../base/log.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import type { Engine } from '../engine/protocol.ts'
import { type JobErrorCode, JobFailure } from '../errors.ts'
import type { Media } from '../media/media.ts'
import { type Download, openIngest } from './ingest.ts'
import { completeJob, failJob, findJob, type Job, queueJob, setProgress, startNextJob } from './job.ts'
import { listStuckJobs, listUnfinishedJobs } from './list.ts'
import { mediaPath, removeMedia } from './media-files.ts'
import { throttled, transcribeProgress } from './progress.ts'
import { timeouts } from './states.ts'
import type { Callbacks } from './webhook-sender.ts'

export type Runner = {
  /** Takes up a job that was just accepted. */
  start(jobId: string): void
  /** Ends a job from outside: its work stops, its end is told. */
  fail(jobId: string, code: JobErrorCode): void
  /** The work of a job that has ended in the database stops, and its end is told. */
  stop(jobId: string): void
  /** Gives waiting jobs to engines that are free. */
  pump(): void
  /** Fails what has been in one state for too long. */
  failStuckJobs(): void
  /** Takes up, after a restart, everything that had not ended. */
  resume(): void
  removeMedia(job: Job): void
  close(): Promise<void>
}

type Work = { stop: AbortController; done: Promise<void> }

export function openRunner({
  db,
  config,
  media,
  engine,
  download,
  callbacks,
  onEnd,
}: {
  db: Db
  config: Config
  media: Media
  engine: Engine
  download: Download
  callbacks: Callbacks
  /** Told once of every job that ends. */
  onEnd: (job: Job) => void
}): Runner {
  const ingest = openIngest({ db, config, media, download })
  const underWay = new Map<string, Work>()
  const recognising = new Set<string>()
  /** Jobs that a restart found at an engine; they go first. */
  const interrupted: Job[] = []
  let closing = false

  /** One piece of work on a job. Whatever it throws ends the job, unless that was stopped from outside. */
  function work(jobId: string, step: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const stop = new AbortController()
    const done = step(stop.signal)
      .catch(error => {
        if (stop.signal.aborted) return
        const failure = error instanceof JobFailure ? error : new JobFailure('INTERNAL_ERROR')
        if (failure !== error) log.error('job broke', { job_id: jobId, ...errorFields(error) })
        end(failJob(db, jobId, failure))
      })
      .catch(error => log.error('job not ended', { job_id: jobId, ...errorFields(error) }))
      .finally(() => {
        if (underWay.get(jobId) === piece) underWay.delete(jobId)
      })
    const piece = { stop, done }
    underWay.set(jobId, piece)
    return done
  }

  async function prepare(job: Job, signal: AbortSignal): Promise<void> {
    const inspection = await ingest(job, signal)
    if (!inspection) return
    signal.throwIfAborted()
    const queued = queueJob(db, job.id, {
      durationMs: inspection.durationMs,
      pricePerHourCents: config.pricePerHourCents,
    })
    if (queued === 'unaffordable') throw new JobFailure('INSUFFICIENT_BALANCE')
    log.info('job queued', { job_id: job.id, duration_ms: inspection.durationMs, codec: inspection.codec })
  }

  async function recognise(job: Job, signal: AbortSignal): Promise<void> {
    if (findJob(db, job.id)?.state !== 'processing') return
    const durationMs = job.durationMs ?? 0
    const tell = throttled(progress => setProgress(db, job.id, progress))
    const onSeconds = (seconds: number) =>
      tell(transcribeProgress(seconds, durationMs / 1000, engine.notice()))
    const transcript = await engine.transcribe(
      {
        path: mediaPath(config.dataDir, job),
        durationMs,
        language: job.language,
        diarize: job.diarize,
        speakerCount: job.speakerCount,
        align: job.align,
      },
      { signal, onSeconds },
    )
    signal.throwIfAborted()
    end(settled(job.id, () => completeJob(db, job.id, transcript)))
  }

  /** A charge that cannot be settled takes the whole completion back with it; the job then fails without one. */
  function settled(jobId: string, complete: () => Job | null): Job | null {
    try {
      return complete()
    } catch (error) {
      log.error('charge not settled', { job_id: jobId, ...errorFields(error) })
      throw new JobFailure('BILLING_ERROR')
    }
  }

  function end(job: Job | null): void {
    if (!job) return
    callbacks.wake(job.id)
    onEnd(job)
    log.info(`job ${job.state}`, { job_id: job.id, code: job.errorCode, audio_ms: job.durationMs })
  }

  function start(jobId: string): void {
    const job = findJob(db, jobId)
    if (job && !closing) work(jobId, signal => prepare(job, signal)).then(pump)
  }

  function pump(): void {
    while (!closing && engine.state().ready && recognising.size < engine.capacity) {
      const job = interrupted.shift() ?? startNextJob(db)
      if (!job) return
      callbacks.wake(job.id)
      recognising.add(job.id)
      work(job.id, signal => recognise(job, signal))
        .finally(() => recognising.delete(job.id))
        .then(pump)
    }
  }

  function stop(jobId: string): void {
    underWay.get(jobId)?.stop.abort(new Error('the job has ended'))
    end(findJob(db, jobId))
  }

  function fail(jobId: string, code: JobErrorCode): void {
    if (failJob(db, jobId, { code })) stop(jobId)
  }

  engine.onReady(pump)
  return {
    start,
    fail,
    stop,
    pump,
    failStuckJobs() {
      for (const { state, setting, code } of timeouts) {
        for (const job of listStuckJobs(db, { state, beforeMs: db.now() - config[setting] }))
          fail(job.id, code)
      }
    },
    resume() {
      for (const job of listUnfinishedJobs(db)) {
        if (job.state === 'processing') interrupted.push(job)
        else if (job.state !== 'pending') start(job.id)
      }
      pump()
    },
    removeMedia(job) {
      removeMedia(db, config.dataDir, job)
    },
    async close() {
      closing = true
      for (const { stop } of underWay.values()) stop.abort(new Error('the service is stopping'))
      await Promise.all([...underWay.values()].map(({ done }) => done))
    },
  }
}
