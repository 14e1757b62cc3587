// The first step of a job: prepares the media. The second step recognises the speech.

import { log } from '../base/log.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { requireSameLength } from './lost-media.ts'
import { queueJob } from './queue.ts'
import type { End, Work } from './steps.ts'

/** Gets and inspects the media of a job. The returned function puts the job into the queue for the recognition. */
export async function prepare({ job, signal, db, config, live, ingest }: Work): Promise<End> {
  const inspection = await ingest.run(job, signal)
  signal.throwIfAborted()
  return () => {
    if (!inspection) return null
    const { durationMs, channels, codec } = inspection
    requireSameLength(job, durationMs)
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
