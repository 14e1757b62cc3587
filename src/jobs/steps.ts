// The two steps of a job: preparing its media, and recognising the speech in it. A step itself does not end the job. It
// returns a function that stores the result of the step, and changes the state of the job.

import { findPrints, markVoicesUsed } from '../accounts/voice.ts'
import { log } from '../base/log.ts'
import type { Secrets } from '../base/seal.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import type { Engine } from '../engine/engine.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { storeAhead } from '../transcripts/store-ahead.ts'
import type { Ingest } from './ingest.ts'
import { completeJob, type Job, queueJob } from './job.ts'
import type { LiveJobs } from './live.ts'
import { mediaPath } from './media-files.ts'
import { storePeaks } from './peaks.ts'
import { setProgress, throttled, transcribeProgress } from './progress.ts'

/** The input of a step: the job, and everything that a step uses. */
export type Work = {
  job: Job
  signal: AbortSignal
  db: Db
  config: Config
  secrets: Secrets
  engine: Engine
  live: LiveJobs
  ingest: Ingest
}

/**
 * A function that stores the result of a step. Returns the job if storing the result has ended the job, otherwise null.
 */
export type End = () => Job | null

/** Gets and inspects the media of a job. The returned function puts the job into the queue for the recognition. */
export async function prepare({ job, signal, db, config, live, ingest }: Work): Promise<End> {
  const inspection = await ingest(job, signal)
  signal.throwIfAborted()
  return () => {
    if (!inspection) return null
    const { durationMs, channels, codec } = inspection
    if (job.splitChannels && channels > limits.splitChannelsMax) {
      const message = `The recording has ${channels} channels; at most ${limits.splitChannelsMax} can be split.`
      throw new JobFailure('INVALID_MEDIA_FORMAT', message)
    }
    const { pricePerHourCents } = config
    if (queueJob(db, job.id, { durationMs, channels, pricePerHourCents })) {
      live.changed(job.id)
      log.info('job queued', { job_id: job.id, duration_ms: durationMs, codec })
    }
    return null
  }
}

/** Transcribes the media of a job. The returned function completes the job. */
export async function recognise({ job, signal, db, config, secrets, engine, live }: Work): Promise<End> {
  const durationMs = job.durationMs ?? 0
  const tell = throttled(progress => {
    setProgress(db, job.id, progress)
    live.changed(job.id)
  })
  let peaks: Uint8Array | null = null
  let { fence } = job
  const transcript = await engine.transcribe(
    {
      path: mediaPath(config.dataDir, job),
      durationMs,
      language: job.language,
      diarize: job.diarize,
      speakerCount: job.speakerCount,
      align: job.align,
      prompt: job.prompt,
      vocabulary: job.vocabulary,
      translate: job.translate,
      channels: job.splitChannels ? job.channelCount : null,
      knownVoices: job.nameSpeakers ? findPrints(db, secrets, job.accountId) : [],
    },
    {
      signal,
      handOver: { jobId: job.id, worker: job.worker, fence, attempts: job.attempts },
      onClaim: claimed => (fence = claimed),
      onSeconds: seconds => tell(transcribeProgress(seconds, durationMs / 1000)),
      onUtterances: (utterances, first) => live.heard(job, utterances, first),
      onPeaks: measured => (peaks = measured),
    },
  )
  signal.throwIfAborted()
  const stored = await storeAhead(db, job, transcript.utterances, signal)
  return () =>
    db.tx(() => {
      const completed = completeJob(db, job.id, transcript, { fence, stored })
      if (completed && peaks) storePeaks(db, job.id, peaks)
      if (completed && job.nameSpeakers) markVoicesUsed(db, job.accountId, transcript.speakers ?? [])
      return completed
    })
}
