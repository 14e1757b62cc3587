// Removes expired uploads that were not used: first their files, and later their rows in the database.

import { tryRemove } from '../base/remove-file.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { uploadPath } from './disk.ts'

/**
 * Removes the files of expired uploads that were not used, at most `uploadRemovalsMax` files in one call. The rows in
 * the database stay for some time: a caller that uses such an upload gets the error UPLOAD_EXPIRED. If a file cannot be
 * removed, a later call tries again. `sending` are the ids of uploads whose bytes are arriving: their files stay,
 * because the next bytes renew the upload.
 */
export function removeUnusedBytes(db: Db, dataDir: string, { sending }: { sending: string[] }): void {
  for (const id of listExpiredUploads(db, sending))
    if (tryRemove(uploadPath(dataDir, id))) forgetBytes(db, id)
}

/**
 * Deletes the database rows of uploads that were not used and that expired at least `keptMs` ago, but at most
 * `purgedUploadsMax` rows. The row of an upload stays until its file has been removed from the disk. `sending` are the
 * ids of uploads whose bytes are arriving: these rows stay too.
 */
export function purgeExpiredUploads(
  db: Db,
  { keptMs, sending }: { keptMs: number; sending: string[] },
): void {
  db.run(
    `delete from uploads where id in (
       select id from uploads where used_at is null and expires_at <= $expiredBefore
         and coalesce(file_bytes, declared_bytes) is null and id not in (select value from json_each($sending)) limit $limit)`,
    {
      expiredBefore: db.now() - keptMs,
      sending: JSON.stringify(sending),
      limit: limits.purgedUploadsMax,
    },
  )
}

/**
 * Returns the ids of expired uploads that were not used and whose files may still exist, but at most
 * `uploadRemovalsMax`. Leaves out the uploads in `sending`, whose bytes are arriving.
 */
function listExpiredUploads(db: Db, sending: string[]): string[] {
  return db
    .list<{ id: string }>(
      // Without `indexed by`, SQLite would use the index of all unused uploads. Most of them have no file any more.
      `select id from uploads indexed by uploads_with_bytes where used_at is null and expires_at <= $now
       and coalesce(file_bytes, declared_bytes) is not null
       and id not in (select value from json_each($sending)) limit $limit`,
      { now: db.now(), sending: JSON.stringify(sending), limit: limits.uploadRemovalsMax },
    )
    .map(({ id }) => id)
}

function forgetBytes(db: Db, id: string): void {
  db.run('update uploads set file_bytes = null, declared_bytes = null where id = $id', { id })
}
