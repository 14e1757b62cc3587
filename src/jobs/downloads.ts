// Downloads the media files of jobs. Accounts take turns.

import { statSync } from 'node:fs'
import { tryRemove } from '../base/remove-file.ts'
import { openSemaphore } from '../base/semaphore.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
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

export type DownloadParts = { db: Db; live: LiveJobs; config: Config; download: Download }

export type Downloads = {
  /** Downloads the media of a job from `url`. Returns false if the job ended before the download. */
  run(job: Job, url: string, signal: AbortSignal): Promise<boolean>
  /**
   * Returns the ids of the jobs that wait for a repeated download, for example after a restart of the server. They are
   * already in the state `downloading`.
   */
  waitingJobs(): string[]
  /**
   * Removes the complete download of a job if the database has not stored the size of the file. Such a file would use
   * disk space that counts for no quota. Must be called when something else than the job's own work ends the job, such
   * as a cancel request.
   */
  discard(jobId: string): void
}

export function openDownloads(parts: DownloadParts): Downloads {
  const { db, live, config } = parts
  const semaphore = openSemaphore(limits.downloadsMax)
  const waiting = new Set<string>()
  /**
   * The complete downloads, by job, until the database has stored their sizes. If the database cannot store a size at
   * first, the server tries again, but does not download the file again.
   */
  const complete = new Map<string, { bytes: number; path: string }>()

  async function fetchSource(job: Job, url: string, signal: AbortSignal): Promise<boolean> {
    if (job.state === 'created' && !startDownload(db, job.id)) return false
    const path = mediaPath(config.dataDir, job)
    const bytes =
      complete.get(job.id)?.bytes ??
      storedBytes(job, path) ??
      (await downloadMedia(parts, job, { url, path }, signal))
    complete.set(job.id, { bytes, path })
    setFileBytes(db, job.id, bytes)
    complete.delete(job.id)
    live.changed(job.id)
    return true
  }

  return {
    async run(job, url, signal) {
      if (job.state === 'downloading') waiting.add(job.id)
      const fetch = () => {
        waiting.delete(job.id)
        return fetchSource(job, url, signal)
      }
      return await semaphore.run(job.accountId, fetch, signal).finally(() => waiting.delete(job.id))
    },
    waitingJobs: () => [...waiting],
    discard(jobId) {
      const download = complete.get(jobId)
      if (download) tryRemove(download.path)
      complete.delete(jobId)
    },
  }
}

/** Downloads the media of a job from `url` to `path`, and returns its size in bytes. */
async function downloadMedia(
  { db, live, config, download }: DownloadParts,
  job: Job,
  { url, path }: { url: string; path: string },
  signal: AbortSignal,
): Promise<number> {
  // The database has the size of an earlier download, but its file is missing or has another size, for example after a
  // restore from a backup. The old size must no longer count as used disk space.
  if (job.fileBytes !== null) setFileBytes(db, job.id, null)
  live.changed(job.id)
  const tell = throttled(progress => {
    setProgress(db, job.id, progress)
    live.changed(job.id)
  })
  const { bytes } = await download(url, path, {
    accountId: job.accountId,
    bytesMax: config.fileBytesMax,
    signal,
    onProgress: (done, total) => tell(downloadProgress(done, total)),
  })
  return bytes
}

/**
 * Returns the size of the file at `path` if it is a complete download of the job from before a restart, and otherwise
 * null. A download gets this path only when it is complete.
 */
function storedBytes({ fileBytes }: Job, path: string): number | null {
  if (fileBytes === null) return null
  return statSync(path, { throwIfNoEntry: false })?.size === fileBytes ? fileBytes : null
}
