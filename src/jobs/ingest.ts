// Gets the media of a job: downloads the media file if the job has a `sourceUrl`, and inspects it.

import { setTimeout } from 'node:timers/promises'
import { openSemaphore } from '../base/semaphore.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import type { Inspection, Media } from '../media/media.ts'
import { type Job, setFileBytes } from './job.ts'
import type { LiveJobs } from './live.ts'
import { mediaPath } from './media-files.ts'
import { startDownload } from './moves.ts'
import { downloadProgress, setProgress, throttled } from './progress.ts'

export type Download = (
  url: string,
  path: string,
  options: {
    accountId: string
    bytesMax: number
    signal: AbortSignal
    onProgress: (bytes: number, total: number | null) => void
  },
) => Promise<{ bytes: number }>

/** A function that waits: the returned promise resolves after `ms` milliseconds. */
export type Pause = (ms: number) => Promise<void>

export type Ingest = {
  /** Gets the media of a job. Returns null if the job ended before its download could start. */
  run(job: Job, signal: AbortSignal): Promise<Inspection | null>
  /**
   * Returns the ids of the jobs that wait for a repeated download, for example after a restart of the server. They are
   * already in the state `downloading`.
   */
  waitingJobs(): string[]
  /**
   * Removes the stored size of a job's complete download. Must be called when something other than the running work on
   * the job ends the job, such as a cancel request.
   */
  forget(jobId: string): void
}

export function openIngest({
  db,
  live,
  config,
  media,
  download,
  pause = pauseFor,
}: {
  db: Db
  live: LiveJobs
  config: Config
  media: Media
  download: Download
  pause?: Pause
}): Ingest {
  const downloads = openSemaphore(limits.downloadsMax)
  const inspections = openSemaphore(limits.inspectionsMax)
  const waiting = new Set<string>()
  /**
   * The sizes of complete downloads, by job, until the database has stored them. If it refuses at first, the repeated
   * step does not download the file again.
   */
  const complete = new Map<string, number>()

  /** Gets the media of a job from `url` to `path`. Returns false if the job ended before the download. */
  async function fetchSource(job: Job, url: string, path: string, signal: AbortSignal): Promise<boolean> {
    if (job.state === 'created' && !startDownload(db, job.id)) return false
    const bytes = complete.get(job.id) ?? (await downloadTo(job, url, path, signal))
    complete.set(job.id, bytes)
    setFileBytes(db, job.id, bytes)
    complete.delete(job.id)
    live.changed(job.id)
    return true
  }

  /** Downloads the media of a job, and returns its size in bytes. */
  async function downloadTo(job: Job, url: string, path: string, signal: AbortSignal): Promise<number> {
    // The download replaces the file of an earlier download. The old size must no longer count as used disk space.
    if (job.fileBytes !== null) setFileBytes(db, job.id, null)
    live.changed(job.id)
    const tell = throttled(progress => {
      setProgress(db, job.id, progress)
      live.changed(job.id)
    })
    const onProgress = (done: number, total: number | null) => tell(downloadProgress(done, total))
    const { bytes } = await download(url, path, {
      accountId: job.accountId,
      bytesMax: config.fileBytesMax,
      signal,
      onProgress,
    })
    return bytes
  }

  /**
   * Inspects the media of a job. A failed inspection is not charged. To limit such free work, no inspection for this
   * account starts for some time after a failed one.
   */
  async function inspect({ accountId }: Job, path: string, signal: AbortSignal): Promise<Inspection> {
    const began = performance.now()
    try {
      return await media.inspect(path, { signal })
    } catch (error) {
      void inspections.rest(accountId, pause(restAfter(performance.now() - began)))
      throw error
    }
  }

  /** Downloads the media when the semaphore `downloads` has a free slot. Returns the same as `fetchSource`. */
  async function fetchInTurn(job: Job, url: string, path: string, signal: AbortSignal): Promise<boolean> {
    if (job.state === 'downloading') waiting.add(job.id)
    const fetch = () => {
      waiting.delete(job.id)
      return fetchSource(job, url, path, signal)
    }
    return await downloads.run(job.accountId, fetch, signal).finally(() => waiting.delete(job.id))
  }

  return {
    async run(job, signal) {
      const path = mediaPath(config.dataDir, job)
      const { accountId, sourceUrl } = job
      if (sourceUrl && !(await fetchInTurn(job, sourceUrl, path, signal))) return null
      return await inspections.run(accountId, () => inspect(job, path, signal), signal)
    },
    waitingJobs: () => [...waiting],
    forget: jobId => void complete.delete(jobId),
  }
}

/**
 * Returns the pause, in milliseconds, between a failed inspection and the account's next one. It is as long as the
 * failed inspection took, but within `limits.inspectionRestMs`.
 */
export function restAfter(tookMs: number): number {
  const { min, max } = limits.inspectionRestMs
  return Math.min(max, Math.max(min, tookMs))
}

/** Waits for `ms` milliseconds. The timer does not keep the process running. */
function pauseFor(ms: number): Promise<void> {
  return setTimeout(ms, undefined, { ref: false })
}
