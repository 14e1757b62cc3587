// The media files of jobs. Uploaded files are in the folder `uploads`, downloaded files in the folder `media`.

import { accessSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { removeFile, tryRemove } from '../base/remove-file.ts'
import { mediaFolders } from '../db/data-dir.ts'
import type { Db } from '../db/db.ts'
import { unlessRefused } from '../db/refusal.ts'
import { uploadPath } from '../uploads/disk.ts'
import { listDeletedJobsWithMedia, listJobsWithOldMedia } from './due-jobs.ts'
import type { Job } from './job.ts'

export function makeMediaFolders(dataDir: string): void {
  for (const folder of Object.values(mediaFolders(dataDir)))
    mkdirSync(folder, { recursive: true, mode: 0o700 })
}

/** Returns true if the process may create files in the folders of media files. Does not check the free space. */
export function canWriteMedia(dataDir: string): boolean {
  try {
    for (const folder of Object.values(mediaFolders(dataDir)))
      accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

export function mediaPath(dataDir: string, job: Job): string {
  return job.uploadId ? uploadPath(dataDir, job.uploadId) : downloadPath(dataDir, job.id)
}

export function removeMediaFile(dataDir: string, job: Job): void {
  removeFile(mediaPath(dataDir, job))
}

export function removeMedia(db: Db, dataDir: string, job: Job): void {
  removeMediaFile(dataDir, job)
  noteRemoved(db, [job])
}

/**
 * Removes the media of an ended job. Does not throw if the file cannot be removed or the database cannot be used,
 * because the caller would then not do the last steps of the job's end, such as its line in the log. `removeOldMedia`
 * tries again later.
 */
export function tryRemoveMedia(db: Db, dataDir: string, job: Job): void {
  if (!tryRemove(mediaPath(dataDir, job))) return
  unlessRefused(() => noteRemoved(db, [job]))
}

function noteRemoved(db: Db, jobs: readonly Job[]): void {
  db.run('update jobs set media_kept = 0 where seq in (select value from json_each($seqs))', {
    seqs: JSON.stringify(jobs.map(({ seq }) => seq)),
  })
}

/**
 * Removes a limited number of media files: those of jobs that ended at least `keptMs` milliseconds ago, and of deleted
 * jobs. A later call retries a file that cannot be removed.
 */
export function removeOldMedia(db: Db, dataDir: string, { keptMs }: { keptMs: number }): void {
  const old = listJobsWithOldMedia(db, { endedBefore: db.now() - keptMs })
  const due = [...old, ...listDeletedJobsWithMedia(db)]
  const removed = due.filter(job => tryRemove(mediaPath(dataDir, job)))
  if (removed.length > 0) noteRemoved(db, removed)
}

function downloadPath(dataDir: string, jobId: string): string {
  return join(mediaFolders(dataDir).downloads, jobId)
}
