// Receives the files of uploads: by a PUT to a signed address, in a form, or by resumable uploads.

import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { removeFile, tryRemove } from '../base/remove-file.ts'
import { Draft } from '../base/whole-file.ts'
import type { Db } from '../db/db.ts'
import { whenUnlocked } from '../db/when-unlocked.ts'
import { ApiError } from '../errors.ts'
import { limits } from '../limits.ts'
import { type Received, receive, syncFolder, uploadPath } from './disk.ts'
import { FormFiles, type StoreConfig } from './form-files.ts'
import { ResumableUploads } from './resumable.ts'
import { type RunningDownload, Transfers } from './transfers.ts'
import { completeUpload, findUpload, markTooLarge, purgeUpload, renewUpload, type Upload } from './upload.ts'

export class UploadStore {
  readonly #db: Db
  readonly #config: StoreConfig
  readonly resumable: ResumableUploads
  readonly forms: FormFiles
  /** The running transfers of PUTs, forms and resumable uploads, and the running downloads of jobs. */
  readonly #transfers: Transfers
  /** The ids of the uploads that `discard` has not deleted yet, for example because the disk is full. */
  readonly #discarded = new Set<string>()

  constructor({ db, config }: { db: Db; config: StoreConfig }) {
    this.#db = db
    this.#config = config
    this.#transfers = new Transfers({ db, config })
    this.forms = new FormFiles({ db, config, transfers: this.#transfers })
    this.resumable = new ResumableUploads({ db, config, transfers: this.#transfers })
  }

  /**
   * Stores the body of a PUT as the file of an upload, and replaces the file of an earlier PUT. If this PUT fails before
   * the replacement, the earlier file stays. `bytesDeclared` is the Content-Length, which is checked before the body is
   * read.
   */
  async put(id: string, body: ReadableStream<Uint8Array> | null, bytesDeclared: number): Promise<Received> {
    const { fileBytesMax: bytesMax, dataDir, uploadTtlMs } = this.#config
    const { accountId, expiresAt, fileBytes } = requireUnused(this.#db, id)
    if (bytesDeclared > bytesMax) throw this.#tooLarge(id)
    const transfer = this.#transfers.begin(id, { accountId, bytesDeclared })
    try {
      this.#transfers.requireRoom(accountId, bytesDeclared)
      const path = uploadPath(dataDir, id)
      using draft = new Draft(path)
      const received = await receive(this.#transfers.admitted(transfer, body), draft.path, { bytesMax })
      if (!received) throw this.#tooLarge(id)
      await whenUnlocked(this.#db, () => {
        // Throws if the upload was used or removed while the PUT was running.
        requireUnused(this.#db, id)
        // The file is already flushed to the disk. `Draft.replace` would flush the file again, which blocks the event
        // loop.
        renameSync(draft.path, path)
        completeUpload(this.#db, id, received)
        // A slow PUT may end after the upload has expired, or shortly before. The expiry time is then set to `keptMs`
        // from now, because the client still needs time to start its job.
        const keptMs = Math.min(limits.uploadKeptMs, uploadTtlMs)
        if (expiresAt < this.#db.now() + keptMs) renewUpload(this.#db, id, keptMs)
      }).catch(error => {
        // If the transaction is rolled back, and no earlier PUT has succeeded, the database does not know the file. It
        // must be removed here, because no periodic task would remove it. After an earlier PUT, the database knows the
        // file, so it stays.
        if (fileBytes === null) removeFile(path)
        throw error
      })
      await syncFolder(dirname(path))
      return received
    } finally {
      this.#transfers.end(id)
    }
  }

  /**
   * Deletes an upload that no job has used, and its file. Removes the file first, so that its disk space is free even
   * if the database is locked. If the file or the upload cannot be deleted, `discardLeft` tries again.
   */
  async discard(id: string): Promise<void> {
    this.#discarded.add(id)
    removeFile(uploadPath(this.#config.dataDir, id))
    await whenUnlocked(this.#db, () => purgeUpload(this.#db, id))
    this.#discarded.delete(id)
  }

  /** Deletes the uploads that `discard` could not delete. */
  discardLeft(): void {
    for (const id of this.#discarded) {
      if (!tryRemove(uploadPath(this.#config.dataDir, id))) continue
      purgeUpload(this.#db, id)
      this.#discarded.delete(id)
    }
  }

  /** Returns the ids of the uploads whose bytes are arriving. */
  sending(): string[] {
    return this.#transfers.uploadIds()
  }

  /** Throws an ApiError if the disk is full or if the account exceeds its disk quota. */
  requireRoom(accountId: string): void {
    this.#transfers.requireRoom(accountId, 0)
  }

  /** Begins the download of a file for a job (`Transfers.beginDownload`). */
  beginDownload(accountId: string): RunningDownload {
    return this.#transfers.beginDownload(accountId)
  }

  /**
   * Marks an upload as too large, unless an earlier PUT has stored a file with content. Returns the error for this PUT.
   */
  #tooLarge(id: string): ApiError {
    markTooLarge(this.#db, id)
    return new ApiError('PAYLOAD_TOO_LARGE', 'The file is larger than the limit; nothing was kept.')
  }

  /** Shortens the idle timeout of all running transfers. Called when the server begins to stop. */
  hurry(): void {
    this.#transfers.hurry()
  }
}

function requireUnused(db: Db, id: string): Upload {
  const upload = findUpload(db, id)
  if (!upload) throw new ApiError('FORBIDDEN')
  if (upload.usedAt !== null)
    throw new ApiError('CONFLICT', 'This upload has already been used for a transcription.')
  return upload
}
