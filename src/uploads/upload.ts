// An address to send bytes to, good for an hour and for one job.

import { newId } from '../base/id.ts'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'

export type Upload = {
  id: string
  accountId: string
  filename: string
  contentType: string
  createdAt: number
  expiresAt: number
  fileBytes: number | null
  tooLarge: number
  usedAt: number | null
}

const columns = `id, account_id as accountId, filename, content_type as contentType, created_at as createdAt,
  expires_at as expiresAt, file_bytes as fileBytes, too_large as tooLarge, used_at as usedAt`

export function createUpload(
  db: Db,
  accountId: string,
  { filename, contentType, ttlMs }: { filename: string; contentType: string; ttlMs: number },
): Upload {
  return db.tx(() => {
    const id = newId()
    db.run(
      `insert into uploads (id, account_id, filename, content_type, created_at, expires_at)
       values ($id, $accountId, $filename, $contentType, $now, $expiresAt)`,
      { id, accountId, filename, contentType, now: db.now(), expiresAt: db.now() + ttlMs },
    )
    return findUpload(db, id)!
  })
}

export function findUpload(db: Db, id: string): Upload | null {
  return db.find<Upload>(`select ${columns} from uploads where id = $id`, { id })
}

/** The bytes of a PUT are whole and in place. */
export function completeUpload(db: Db, id: string, { fileBytes }: { fileBytes: number }): void {
  db.tx(() =>
    db.run('update uploads set file_bytes = $fileBytes, too_large = 0 where id = $id', { id, fileBytes }),
  )
}

/** A PUT was cut off at the limit. Good bytes of an earlier one stay usable. */
export function markTooLarge(db: Db, id: string): void {
  db.tx(() =>
    db.run('update uploads set too_large = 1 where id = $id and coalesce(file_bytes, 0) = 0', { id }),
  )
}

/** Gives the upload to a job, for good. Throws what stands in the way. */
export function takeUpload(db: Db, accountId: string, id: string): Upload {
  return db.tx(() => {
    const upload = findUpload(db, id)
    if (!upload || upload.accountId !== accountId) throw new ApiError('UPLOAD_NOT_FOUND')
    if (upload.usedAt !== null) throw new ApiError('UPLOAD_ALREADY_USED')
    if (upload.expiresAt <= db.now()) throw new ApiError('UPLOAD_EXPIRED')
    if (upload.tooLarge) throw new ApiError('FILE_TOO_LARGE')
    if (!upload.fileBytes) throw new ApiError('FILE_NOT_UPLOADED')
    db.run('update uploads set used_at = $now where id = $id', { id, now: db.now() })
    return upload
  })
}

/** Uploads that expired unused lose their bytes. Their rows stay a while, so that callers learn why. */
export function listExpiredUploads(db: Db): Upload[] {
  return db.list<Upload>(
    `select ${columns} from uploads where used_at is null and expires_at <= $now and file_bytes is not null`,
    { now: db.now() },
  )
}

export function forgetBytes(db: Db, id: string): void {
  db.tx(() => db.run('update uploads set file_bytes = null where id = $id', { id }))
}

export function purgeUploads(db: Db, { expiredBefore }: { expiredBefore: number }): number {
  return db.tx(() =>
    db.run('delete from uploads where used_at is null and expires_at <= $expiredBefore', { expiredBefore }),
  )
}
