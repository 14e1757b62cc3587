// Removes media files that are not needed, such as those that a killed process has left.

import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isDraft } from '../base/draft-names.ts'
import { isId } from '../base/id.ts'
import { tryRemove } from '../base/remove-file.ts'
import { mediaFolders } from '../db/data-dir.ts'
import type { Db } from '../db/db.ts'
import { uploadPath } from '../uploads/disk.ts'
import { purgeUpload } from '../uploads/upload.ts'

/**
 * Removes the files that are not needed from the folders `uploads` and `media`: drafts, incomplete downloads, and files
 * without a job or upload. A draft is a file that is still being written. Returns the number of removed files.
 */
export function removeLeftovers(db: Db, dataDir: string): number {
  const { uploads, downloads } = mediaFolders(dataDir)
  const leftovers = [
    ...listUnknown(uploads, id => isUploadNeeded(db, id)),
    ...listUnknown(downloads, id => isDownloadNeeded(db, id)),
  ]
  const removed = leftovers.filter(tryRemove).length
  purgeEnrolments(db, dataDir)
  return removed
}

/**
 * Lists the files in a folder that are not needed. The name of a listed file is an id, such as that of a job, or this
 * id with the suffix of a draft (a file that is not complete). Returns no file of a folder that is a symbolic link,
 * because another server may use the folder.
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
 * Returns true if the file of the upload must be kept: for its job, or for the first use of an unused upload. The file
 * of an upload that is neither complete nor resumable is not kept. A used upload without a job was used for a voice
 * print, and its file is no longer needed.
 */
function isUploadNeeded(db: Db, id: string): boolean {
  const upload = `select 1 from uploads left join jobs on upload_id = uploads.id
    where uploads.id = $id and coalesce(uploads.file_bytes, declared_bytes) is not null
      and (media_kept = 1 or (jobs.id is null and used_at is null))`
  return db.find(upload, { id }) !== null
}

/** Deletes the uploads that were used to enrol a voice, unless their file cannot be removed. */
function purgeEnrolments(db: Db, dataDir: string): void {
  const enrolments = db.list<{ id: string }>('select id from uploads where for_voice = 1')
  for (const { id } of enrolments) if (tryRemove(uploadPath(dataDir, id))) purgeUpload(db, id)
}

/**
 * Returns true if the downloaded file of the job is complete and must be kept. The column `file_bytes` is set when the
 * download is complete.
 */
function isDownloadNeeded(db: Db, id: string): boolean {
  const download = `select 1 from jobs
    where id = $id and source_url is not null and media_kept = 1 and file_bytes is not null`
  return db.find(download, { id }) !== null
}
