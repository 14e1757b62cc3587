// Gets the media of a job: downloads the media file if the job has a `sourceUrl`, and inspects it.

import { setTimeout } from 'node:timers/promises'
import { openSemaphore } from '../base/semaphore.ts'
import { limits } from '../limits.ts'
import type { Inspection, Media } from '../media/media.ts'
import { type DownloadParts, type Downloads, openDownloads } from './downloads.ts'
import type { Job } from './job.ts'
import { mediaPath } from './media-files.ts'

/** A function that waits: the returned promise resolves after `ms` milliseconds. */
export type Pause = (ms: number) => Promise<void>

export type Ingest = Pick<Downloads, 'waitingJobs' | 'discard'> & {
  /** Gets the media of a job. Returns null if the job ended before its download could start. */
  run(job: Job, signal: AbortSignal): Promise<Inspection | null>
}

export function openIngest(parts: DownloadParts & { media: Media; pause?: Pause }): Ingest {
  const { config, media, pause = pauseFor } = parts
  const { run: download, waitingJobs, discard } = openDownloads(parts)
  const inspections = openSemaphore(limits.inspectionsMax)

  /**
   * Inspects the media of a job. A failed inspection is not charged. To limit such free work, no inspection for this
   * account starts for some time after a failed one.
   */
  async function inspect(job: Job, signal: AbortSignal): Promise<Inspection> {
    const began = performance.now()
    try {
      return await media.inspect(mediaPath(config.dataDir, job), { signal })
    } catch (error) {
      void inspections.rest(job.accountId, pause(restAfter(performance.now() - began)))
      throw error
    }
  }

  return {
    async run(job, signal) {
      const { accountId, sourceUrl } = job
      if (sourceUrl && !(await download(job, sourceUrl, signal))) return null
      return await inspections.run(accountId, () => inspect(job, signal), signal)
    },
    waitingJobs,
    discard,
  }
}

/**
 * Returns the pause, in milliseconds, between a failed inspection and the account's next one. A failed inspection is
 * not charged, so the pause limits this free work. It is as long as the failed inspection took, but within
 * `limits.inspectionRestMs`.
 */
export function restAfter(tookMs: number): number {
  const { min, max } = limits.inspectionRestMs
  return Math.min(max, Math.max(min, tookMs))
}

/** Waits for `ms` milliseconds. The timer does not keep the process running. */
function pauseFor(ms: number): Promise<void> {
  return setTimeout(ms, undefined, { ref: false })
}
