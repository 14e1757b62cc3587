// The media files of jobs. Uploaded files are in the folder `uploads`, downloaded files in the folder `media`.

import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isId } from '../base/id.ts'
import { isDraft } from '../base/whole-file.ts'
import type { Db } from '../db/db.ts'
import { uploadPath } from '../uploads/disk.ts'
import type { Job } from './job.ts'
import { listJobsWithOldMedia } from './list.ts'

export function makeMediaFolders(dataDir: string): void {
  for (const folder of ['uploads', 'media'])
    mkdirSync(join(dataDir, folder), { recursive: true, mode: 0o700 })
}

export function mediaPath(dataDir: string, job: Job): string {
  return job.uploadId ? uploadPath(dataDir, job.uploadId) : downloadPath(dataDir, job.id)
}

export function removeMedia(db: Db, dataDir: string, job: Job): void {
  rmSync(mediaPath(dataDir, job), { force: true })
  db.run('update jobs set media_kept = 0 where id = $id', { id: job.id })
}

/** Removes the media files of jobs that ended at least `keptMs` milliseconds ago. */
export function removeOldMedia(db: Db, dataDir: string, { keptMs }: { keptMs: number }): void {
  for (const job of listJobsWithOldMedia(db, { endedBefore: db.now() - keptMs }))
    removeMedia(db, dataDir, job)
}

/**
 * Removes the files that a killed process has left in the folders `uploads` and `media`: drafts, incomplete downloads,
 * and files without a job or upload in the database. Returns the number of removed files.
 */
export function removeLeftovers(db: Db, dataDir: string): number {
  const leftovers = [
    ...listUnknown(join(dataDir, 'uploads'), id => isUploadNeeded(db, id)),
    ...listUnknown(join(dataDir, 'media'), id => isDownloadNeeded(db, id)),
  ]
  for (const path of leftovers) rmSync(path, { force: true })
  return leftovers.length
}

function downloadPath(dataDir: string, jobId: string): string {
  return join(dataDir, 'media', jobId)
}

/**
 * Lists the files in a folder that are not needed. A file is listed only if steno could have given its name: an id, or
 * an id with the suffix of a draft. If the folder is a symbolic link, no file is listed, because another server may use
 * the same folder.
 */
function listUnknown(folder: string, isNeeded: (id: string) => boolean): string[] {
  if (lstatSync(folder).isSymbolicLink()) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter(entry => entry.isFile() && isOwn(entry.name) && !isNeeded(entry.name))
    .map(({ name }) => join(folder, name))
}

function isOwn(name: string): boolean {
  const [start = ''] = name.split('.')
  return isId(start) && (name === start || isDraft(name))
}

function isUploadNeeded(db: Db, id: string): boolean {
  const upload = `select 1 from uploads left join jobs on upload_id = uploads.id
    where uploads.id = $id and coalesce(uploads.file_bytes, declared_bytes) is not null and coalesce(media_kept, 1) = 1`
  return db.find(upload, { id }) !== null
}

/**
 * Returns true if the downloaded file of the job is complete and must still be kept. The field `file_bytes` of the job
 * is set when the download is complete.
 */
function isDownloadNeeded(db: Db, id: string): boolean {
  const download = `select 1 from jobs
    where id = $id and source_url is not null and media_kept = 1 and file_bytes is not null`
  return db.find(download, { id }) !== null
}
