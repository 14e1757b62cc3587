// Reads and writes uploads in the database. An upload accepts its file until the upload is used or expires. Only one
// job, or one enrolment of a voice, can use an upload.

import { requireNotDeleted } from '../accounts/account.ts'
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
  /**
   * The size in bytes that the client declared for a resumable upload. Null for other uploads, and for an expired
   * upload whose file was removed.
   */
  declaredBytes: number | null
  /**
   * The header Upload-Metadata as the client sent it. Null for an upload that is not resumable. Set to null when a job
   * or an enrolment (see `takeUpload`) uses the upload.
   */
  metadata: string | null
  /**
   * The size of the complete file in bytes. Null for an incomplete file, and for an expired upload whose file was
   * removed.
   */
  fileBytes: number | null
  tooLarge: boolean
  usedAt: number | null
}

type UploadRow = Omit<Upload, 'tooLarge'> & { tooLarge: number }

const columns = `id, account_id as accountId, filename, content_type as contentType, created_at as createdAt,
  expires_at as expiresAt, declared_bytes as declaredBytes, tus_metadata as metadata,
  file_bytes as fileBytes, too_large as tooLarge, used_at as usedAt`

export function createUpload(
  db: Db,
  accountId: string,
  {
    id = newId(),
    filename,
    contentType,
    declaredBytes = null,
    metadata = null,
    ttlMs,
  }: {
    id?: string
    filename: string
    contentType: string
    declaredBytes?: number | null
    metadata?: string | null
    ttlMs: number
  },
): Upload {
  const now = db.now()
  const upload = {
    id,
    accountId,
    filename,
    contentType,
    declaredBytes,
    metadata,
    createdAt: now,
    expiresAt: now + ttlMs,
  }
  db.tx(() => {
    requireNotDeleted(db, accountId)
    db.run(
      `insert into uploads (id, account_id, filename, content_type, declared_bytes, tus_metadata, created_at,
         expires_at)
       values ($id, $accountId, $filename, $contentType, $declaredBytes, $metadata, $createdAt, $expiresAt)`,
      upload,
    )
  })
  return { ...upload, fileBytes: null, tooLarge: false, usedAt: null }
}

export function findUpload(db: Db, id: string): Upload | null {
  const row = db.find<UploadRow>(`select ${columns} from uploads where id = $id`, { id })
  return row && fromRow(row)
}

/** Sets the expiry time of an upload to `ttlMs` from now, unless the upload was used. */
export function renewUpload(db: Db, id: string, ttlMs: number): void {
  db.run('update uploads set expires_at = $expiresAt where id = $id and used_at is null', {
    id,
    expiresAt: db.now() + ttlMs,
  })
}

/** Stores the size of an upload's complete file. */
export function completeUpload(db: Db, id: string, { fileBytes }: { fileBytes: number }): void {
  db.run('update uploads set file_bytes = $fileBytes, too_large = 0 where id = $id', { id, fileBytes })
}

/** Records that the file of a PUT was too large. Does nothing if an earlier PUT has stored a file with content. */
export function markTooLarge(db: Db, id: string): void {
  db.run('update uploads set too_large = 1 where id = $id and coalesce(file_bytes, 0) = 0', { id })
}

/**
 * Marks an upload as used by a job or, if `forVoice` is true, by an enrolment. Returns the upload. Throws an ApiError
 * with the reason if the upload cannot be used.
 */
export function takeUpload(db: Db, accountId: string, id: string, { forVoice = false } = {}): Upload {
  return db.tx(() => {
    const upload = findUpload(db, id)
    if (!upload || upload.accountId !== accountId) throw new ApiError('UPLOAD_NOT_FOUND')
    if (upload.usedAt !== null) throw new ApiError('UPLOAD_ALREADY_USED')
    if (upload.expiresAt <= db.now()) throw new ApiError('UPLOAD_EXPIRED')
    if (upload.tooLarge) throw new ApiError('FILE_TOO_LARGE')
    if (!upload.fileBytes) throw new ApiError('FILE_NOT_UPLOADED', missingBytes(upload))
    db.run('update uploads set used_at = $now, for_voice = $forVoice, tus_metadata = null where id = $id', {
      id,
      now: db.now(),
      forVoice: Number(forVoice),
    })
    return upload
  })
}

function missingBytes({ fileBytes, declaredBytes }: Upload): string | undefined {
  if (fileBytes !== null || !declaredBytes) return undefined
  return `The ${declaredBytes} bytes of this resumable upload have not all arrived yet.`
}

export function purgeUpload(db: Db, id: string): void {
  db.run('delete from uploads where id = $id', { id })
}

function fromRow({ tooLarge, ...row }: UploadRow): Upload {
  return { ...row, tooLarge: tooLarge === 1 }
}
