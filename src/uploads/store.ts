// A PUT to a signed address, from first byte to in place.

import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { discard, place, type Received, receive, uploadPath } from './disk.ts'
import { completeUpload, findUpload, markTooLarge } from './upload.ts'

/** Replaces what was there in one step, or changes nothing. `bytesDeclared` saves reading what is too large anyway. */
export async function storeUpload(
  db: Db,
  id: string,
  body: ReadableStream<Uint8Array> | null,
  { dataDir, bytesMax, bytesDeclared }: { dataDir: string; bytesMax: number; bytesDeclared: number },
): Promise<Received> {
  requireUnused(db, id)
  const path = uploadPath(dataDir, id)
  const received = bytesDeclared > bytesMax ? null : await receive(body, path, { bytesMax })
  if (!received) {
    markTooLarge(db, id)
    throw new ApiError('PAYLOAD_TOO_LARGE', 'The file is larger than the limit; nothing was kept.')
  }
  try {
    requireUnused(db, id)
  } catch (error) {
    discard(received)
    throw error
  }
  place(received, path)
  completeUpload(db, id, received)
  return received
}

/** Asked again after the bytes came: a job may have taken the upload meanwhile. */
function requireUnused(db: Db, id: string): void {
  const upload = findUpload(db, id)
  if (!upload) throw new ApiError('FORBIDDEN')
  if (upload.usedAt !== null)
    throw new ApiError('CONFLICT', 'This upload has already been used for a transcription.')
}
