// Which files in the media folders somebody still needs.

import type { Db } from '../db/db.ts'
import { downloadPath, uploadPath } from './disk.ts'

/** Asked once, at the start. A job that is to download again knows its file only when that is whole. */
export function listKnownFiles(db: Db, dataDir: string): (path: string) => boolean {
  const uploads = db.list<{ id: string }>(
    `select uploads.id from uploads left join jobs on upload_id = uploads.id
     where uploads.file_bytes is not null and coalesce(media_kept, 1) = 1`,
  )
  const downloads = db.list<{ id: string }>(
    `select id from jobs where source_url is not null and media_kept = 1 and file_bytes is not null`,
  )
  const known = new Set([
    ...uploads.map(({ id }) => uploadPath(dataDir, id)),
    ...downloads.map(({ id }) => downloadPath(dataDir, id)),
  ])
  return path => known.has(path)
}
