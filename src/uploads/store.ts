// A PUT to a signed address, from its first byte to a file in place.

import { renameSync, rmSync } from 'node:fs'
import { Draft } from '../base/whole-file.ts'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { type Received, receive, uploadPath } from './disk.ts'
import { completeUpload, findUpload, forgetBytes, listExpiredUploads, markTooLarge } from './upload.ts'

/** Replaces the bytes in one step, or changes nothing. A body that declares too many bytes is not read. */
export async function storeUpload(
  db: Db,
  id: string,
  body: ReadableStream<Uint8Array> | null,
  { dataDir, bytesMax, bytesDeclared }: { dataDir: string; bytesMax: number; bytesDeclared: number },
): Promise<Received> {
  requireUnused(db, id)
  const path = uploadPath(dataDir, id)
  using draft = new Draft(path)
  const received = bytesDeclared > bytesMax ? null : await receive(body, draft.path, { bytesMax })
  if (!received) {
    markTooLarge(db, id)
    throw new ApiError('PAYLOAD_TOO_LARGE', 'The file is larger than the limit; nothing was kept.')
  }
  // A job may have taken the upload while the bytes came.
  requireUnused(db, id)
  // The bytes are on the disk already: a draft that syncs itself would hold up all other requests.
  renameSync(draft.path, path)
  completeUpload(db, id, received)
  return received
}

/** Removes the bytes of uploads that expired unused. Their rows stay for a while, so that callers learn the reason. */
export function removeUnusedBytes(db: Db, dataDir: string): void {
  for (const id of listExpiredUploads(db)) {
    rmSync(uploadPath(dataDir, id), { force: true })
    forgetBytes(db, id)
  }
}

function requireUnused(db: Db, id: string): void {
  const upload = findUpload(db, id)
  if (!upload) throw new ApiError('FORBIDDEN')
  if (upload.usedAt !== null)
    throw new ApiError('CONFLICT', 'This upload has already been used for a transcription.')
}
