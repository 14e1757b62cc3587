// Jobs whose media file is missing when their recognition begins, which may be so after a restart: a second server may
// not have the files of the first one, and a backup contains only the database.

import { existsSync } from 'node:fs'
import { log } from '../base/log.ts'
import { JobFailure, MediaLost } from '../errors.ts'
import { mediaPath } from './media-files.ts'
import type { Work } from './steps.ts'

/** Returns true if the media file of a job is missing, and no worker can have fetched it before. */
export function isMediaLost({ job, config, engine }: Work): boolean {
  const { id: jobId, worker, fence, attempts } = job
  const mayBeHeld = engine.mayBeHeld?.({ jobId, worker, fence, attempts }) ?? false
  return !mayBeHeld && !existsSync(mediaPath(config.dataDir, job))
}

/**
 * Downloads the media file of a job again. Rejects with MediaLost if the job has no `sourceUrl`. Also rejects with a
 * JobFailure if the new file has another length, because the price that is reserved for the job depends on the length.
 */
export async function downloadAgain({ job, signal, ingest }: Work): Promise<void> {
  if (job.sourceUrl === null) throw new MediaLost()
  log.info('media downloaded again', { job_id: job.id })
  const inspection = await ingest(job, signal)
  if (inspection?.durationMs === job.durationMs) return
  const message =
    'The file had to be downloaded again, and has another length; start the transcription again.'
  throw new JobFailure('DOWNLOAD_FAILED', message)
}
