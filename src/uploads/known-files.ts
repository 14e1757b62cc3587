// Which files in the media folders somebody still needs.

import { basename } from 'node:path'
import type { Db } from '../db/db.ts'
import { downloadPath, uploadPath } from './disk.ts'

/** Asked at the start, for each file that is there. A job that is to download again knows its file only when whole. */
export function knownFiles(db: Db, dataDir: string): (path: string) => boolean {
  return path => {
    const id = basename(path)
    if (path === uploadPath(dataDir, id)) {
      const upload = `select 1 from uploads left join jobs on upload_id = uploads.id
        where uploads.id = $id and uploads.file_bytes is not null and coalesce(media_kept, 1) = 1`
      return db.find(upload, { id }) !== null
    }
    const download = `select 1 from jobs
      where id = $id and source_url is not null and media_kept = 1 and file_bytes is not null`
    return path === downloadPath(dataDir, id) && db.find(download, { id }) !== null
  }
}
