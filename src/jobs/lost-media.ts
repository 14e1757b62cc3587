// Jobs whose media file is missing before or during their recognition, for example after a restart from a backup. Such
// a job with a `sourceUrl` returns to the state `downloading`, and later waits for the engine again.

import { existsSync } from 'node:fs'
import { JobFailure, MediaLost } from '../errors.ts'
import type { Job } from './job.ts'
import { mediaPath } from './media-files.ts'
import type { Work } from './steps.ts'

/** Returns true if the media file of a job is missing, and can be downloaded again. */
export function mustDownloadAgain(dataDir: string, job: Job): boolean {
  return job.sourceUrl !== null && isMediaMissing(dataDir, job)
}

/**
 * Throws MediaLost if the media file of a job is missing, and no worker on another machine can have fetched it before.
 */
export function requireMedia({ job, config, engine }: Work): void {
  const { id: jobId, worker, fence, attempts } = job
  const mayBeHeld = engine.mayBeHeld?.({ jobId, worker, fence, attempts }) ?? false
  if (!mayBeHeld && isMediaMissing(config.dataDir, job)) throw new MediaLost()
}

/**
 * Throws a JobFailure if a repeated download of the media has another length. The price that is reserved for the job
 * depends on the length.
 */
export function requireSameLength(job: Job, durationMs: number): void {
  if (job.durationMs === null || job.durationMs === durationMs) return
  const message =
    'The file had to be downloaded again, and has another length; start the transcription again.'
  throw new JobFailure('DOWNLOAD_FAILED', message)
}

function isMediaMissing(dataDir: string, job: Job): boolean {
  return !existsSync(mediaPath(dataDir, job))
}
