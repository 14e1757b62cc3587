// Removes media files that are not needed from the data folder, such as those that a killed process has left.

import { lstatSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isDraft } from '../base/draft-names.ts'
import { isId } from '../base/id.ts'
import { tryRemove } from '../base/remove-file.ts'
import type { Db } from '../db/db.ts'

/**
 * Removes the files that are not needed from the folders `uploads` and `media`: drafts (files that were still being
 * written), incomplete downloads, and files without a job or upload in the database. Returns the number of removed
 * files.
 */
export function removeLeftovers(db: Db, dataDir: string): number {
  const uploads = listUnknown(join(dataDir, 'uploads'), id => isUploadNeeded(db, id))
  for (const path of uploads) purgeEnrolment(db, basename(path))
  const leftovers = [...uploads, ...listUnknown(join(dataDir, 'media'), id => isDownloadNeeded(db, id))]
  return leftovers.filter(tryRemove).length
}

/**
 * Lists the files in a folder that are not needed. A file is listed only if steno could have given its name: an id, or
 * an id with the suffix of a draft (a file that was not completed). If the folder is a symbolic link, no file is
 * listed, because another server may use the same folder.
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

/**
 * Returns true if the file of the upload must still be kept: for its job, or because the upload is complete or
 * resumable and was not used yet. An upload that was used, but not by a job, was used for a voice print. The process
 * that makes a voice print removes the file of the upload afterwards. If the file still exists, this process was
 * killed, and the file is not needed.
 */
function isUploadNeeded(db: Db, id: string): boolean {
  const upload = `select 1 from uploads left join jobs on upload_id = uploads.id
    where uploads.id = $id and coalesce(uploads.file_bytes, declared_bytes) is not null
      and (media_kept = 1 or (jobs.id is null and used_at is null))`
  return db.find(upload, { id }) !== null
}

/** Deletes an upload from the database if it was used, but not by a job. */
function purgeEnrolment(db: Db, id: string): void {
  db.run(
    `delete from uploads where id = $id and used_at is not null
     and not exists (select 1 from jobs where upload_id = uploads.id)`,
    { id },
  )
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
