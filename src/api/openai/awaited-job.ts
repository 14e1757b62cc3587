// A job whose caller waits for the result in the same request. If the caller disconnects, the job is cancelled.

import { errorFields, log } from '../../base/log.ts'
import { ApiError } from '../../errors.ts'
import { errorOf } from '../../jobs/events.ts'
import type { Job } from '../../jobs/job.ts'
import type { LiveJob } from '../../jobs/live.ts'
import { isTerminal } from '../../jobs/states.ts'
import { limits } from '../../limits.ts'
import { findTranscript } from '../../transcripts/find-transcript.ts'
import type { Transcript } from '../../transcripts/transcript.ts'
import type { Service } from '../service.ts'
import { failureOfJob, OpenAiError } from './errors.ts'

export type AwaitedJob = {
  live: LiveJob
  /**
   * Resolves when the media file was inspected, and the price for its duration is reserved. Also resolves when the job
   * ends, or when the server stops.
   */
  inspected: Promise<void>
  /** Resolves when the job has ended, or when the server stops. */
  ended: Promise<void>
  /** Sets the listener that is called at each change of the job. A previous listener is replaced. */
  onChange(listener: () => void): void
  /** Returns true if the job has failed, or if the server stops before the job has ended. */
  hasFailed(): boolean
  /** Returns the transcript of the ended job. Throws an ApiError if the job has no transcript. */
  transcript(): Transcript
  /** Cancels the job. Does nothing if the job has already ended. */
  abandon(): void
}

/** Starts the new job of a request. `signal` is aborted when the caller disconnects. */
export function startAwaited({ db, live: jobs, runner }: Service, job: Job, signal: AbortSignal): AwaitedJob {
  const inspected = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  let listener = () => {}
  const { live, leave } = jobs.follow(job, look)

  const isStopped = () => jobs.isClosed && !isTerminal(live.job.state)

  function look(): void {
    const { state } = live.job
    listener()
    if (state !== 'created' && state !== 'downloading') inspected.resolve()
    if (isTerminal(state)) ended.resolve()
    else if (jobs.isClosed) {
      abandon()
      inspected.resolve()
      ended.resolve()
    }
  }

  function abandon(): void {
    if (!isTerminal(live.job.state)) cancel(runner, job)
  }

  signal.addEventListener('abort', abandon)
  ended.promise.then(() => {
    leave()
    signal.removeEventListener('abort', abandon)
  })
  runner.start(job)
  if (signal.aborted) abandon()
  // When the server begins to stop, `jobs` calls `look` of each job that it knows. `look` cancels a job that has not
  // ended. If the server began to stop before `jobs` knew this job, `look` must be called here.
  if (jobs.isClosed) look()
  return {
    live,
    inspected: inspected.promise,
    ended: ended.promise,
    onChange: each => {
      listener = each
    },
    hasFailed: () => live.job.state === 'failed' || isStopped(),
    transcript() {
      if (isStopped()) throw stopping()
      return transcriptOf(db, live.job)
    },
    abandon,
  }
}

function cancel(runner: Service['runner'], { accountId, id }: Job): void {
  try {
    runner.cancel(accountId, id)
  } catch (error) {
    log.warn('job not cancelled after its caller left', { job_id: id, ...errorFields(error) })
  }
}

function transcriptOf(db: Service['db'], job: Job): Transcript {
  if (job.state === 'failed') throw failureOfJob(errorOf(job))
  const transcript = findTranscript(db, job.id)
  if (transcript) return transcript
  throw new OpenAiError('TRANSCRIPTION_NOT_FOUND', 'The transcription was deleted.', { isFinal: true })
}

/**
 * Returns the error for a job that is cancelled because the server stops. OpenAI's clients then send the request again.
 */
function stopping(): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', 'The service is stopping; send the request again.', {
    'Retry-After': `${limits.busyRetryAfterMs / 1000}`,
  })
}
