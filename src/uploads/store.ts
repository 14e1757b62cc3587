// Receives the files of uploads. A file arrives as the body of a PUT to a signed address, or as a part of a multipart
// form.

import { renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { newId } from '../base/id.ts'
import { Draft } from '../base/whole-file.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import { whenUnlocked } from '../db/when-unlocked.ts'
import { ApiError } from '../errors.ts'
import { limits } from '../limits.ts'
import { type Received, receive, syncFolder, uploadPath } from './disk.ts'
import { ResumableUploads } from './resumable.ts'
import { type TransferSettings, Transfers } from './transfers.ts'
import {
  completeUpload,
  createUpload,
  findUpload,
  forgetBytes,
  listExpiredUploads,
  markTooLarge,
  purgeUpload,
  type Upload,
} from './upload.ts'

type StoreConfig = TransferSettings & Pick<Config, 'fileBytesMax' | 'uploadTtlMs'>

type FileFacts = { filename: string; contentType: string }

/**
 * A file that arrived in a form. It is stored as a draft. The caller declares the object with `using`, so the draft is
 * removed at the end of the block unless `keep` was called.
 */
export type HeldFile = Disposable & {
  fileBytes: number
  /** Creates an upload. The draft becomes the file of the upload. */
  keep(accountId: string, facts: FileFacts): Promise<Upload>
}

export class UploadStore {
  readonly #db: Db
  readonly #config: StoreConfig
  readonly resumable: ResumableUploads
  /** The running transfers. A PUT is listed under the id of its upload, and a form under a random id. */
  readonly #transfers: Transfers

  constructor({ db, config }: { db: Db; config: StoreConfig }) {
    this.#db = db
    this.#config = config
    this.#transfers = new Transfers({ db, config })
    this.resumable = new ResumableUploads({ db, config, transfers: this.#transfers })
  }

  /**
   * Stores the body of a PUT as the file of an upload, in place of the file of an earlier PUT. If this PUT fails, the
   * earlier file stays. `bytesDeclared` is the Content-Length of this PUT. If it is larger than the limit, an ApiError
   * is thrown before the body is read.
   */
  async put(id: string, body: ReadableStream<Uint8Array> | null, bytesDeclared: number): Promise<Received> {
    const { fileBytesMax: bytesMax, dataDir } = this.#config
    const { accountId } = requireUnused(this.#db, id)
    const transfer = this.#transfers.begin(id, { accountId, bytesDeclared })
    try {
      this.#transfers.requireRoom(accountId, Math.min(bytesDeclared, bytesMax))
      const path = uploadPath(dataDir, id)
      using draft = new Draft(path)
      const received =
        bytesDeclared > bytesMax
          ? null
          : await receive(this.#transfers.admitted(transfer, body), draft.path, { bytesMax })
      if (!received) {
        markTooLarge(this.#db, id)
        throw new ApiError('PAYLOAD_TOO_LARGE', 'The file is larger than the limit; nothing was kept.')
      }
      await whenUnlocked(this.#db, () => {
        // Throws if a job has used the upload while the PUT was running.
        requireUnused(this.#db, id)
        // The file is already flushed to the disk. `Draft.replace` would flush the file again, which blocks the event
        // loop.
        renameSync(draft.path, path)
        completeUpload(this.#db, id, received)
      })
      await syncFolder(dirname(path))
      return received
    } finally {
      this.#transfers.end(id)
    }
  }

  /**
   * Yields the bytes of a form that contains a file for this account. Throws an ApiError if the disk is full, if the
   * account has used its disk quota, or if no bytes arrive within the idle timeout.
   */
  async *chunksOfForm(
    accountId: string,
    body: ReadableStream<Uint8Array> | null,
    bytesDeclared: number,
  ): AsyncGenerator<Uint8Array> {
    const id = newId()
    if (bytesDeclared > this.#config.fileBytesMax + limits.formExtraBytesMax)
      throw new ApiError('PAYLOAD_TOO_LARGE', 'The file is larger than the limit.')
    const transfer = this.#transfers.begin(id, { accountId, bytesDeclared })
    try {
      this.#transfers.requireRoom(accountId, Math.min(bytesDeclared, this.#config.fileBytesMax))
      yield* this.#transfers.admitted(transfer, body)
    } finally {
      this.#transfers.end(id)
    }
  }

  /** Stores the file of a form as a draft. The file becomes an upload only if the caller calls `keep`. */
  async hold(chunks: AsyncIterable<Uint8Array>): Promise<HeldFile> {
    const { fileBytesMax: bytesMax, dataDir } = this.#config
    const id = newId()
    const draft = new Draft(uploadPath(dataDir, id))
    try {
      const received = await receive(chunks, draft.path, { bytesMax })
      if (!received) throw new ApiError('PAYLOAD_TOO_LARGE', 'The file is larger than the limit.')
      return {
        fileBytes: received.fileBytes,
        keep: (accountId, facts) => this.#keep(draft, { ...facts, id, accountId }, received),
        [Symbol.dispose]: () => draft[Symbol.dispose](),
      }
    } catch (error) {
      draft[Symbol.dispose]()
      throw error
    }
  }

  /** Deletes an upload and its file. Must not be called for an upload that a job has used. */
  discard(id: string): void {
    purgeUpload(this.#db, id)
    rmSync(uploadPath(this.#config.dataDir, id), { force: true })
  }

  /** Throws an ApiError if the disk is full or if the account has used its whole disk quota. */
  requireRoom(accountId: string): void {
    this.#transfers.requireRoom(accountId, 0)
  }

  /** Shortens the idle timeout of all running PUTs and forms. Called when the server begins to stop. */
  hurry(): void {
    this.#transfers.hurry()
  }

  async #keep(
    draft: Draft,
    { id, accountId, filename, contentType }: FileFacts & { id: string; accountId: string },
    received: Received,
  ): Promise<Upload> {
    const { dataDir, uploadTtlMs: ttlMs } = this.#config
    const path = uploadPath(dataDir, id)
    const upload = await whenUnlocked(this.#db, () => {
      renameSync(draft.path, path)
      const created = createUpload(this.#db, accountId, { id, filename, contentType, ttlMs })
      completeUpload(this.#db, id, received)
      return created
    })
    await syncFolder(dirname(path))
    return { ...upload, fileBytes: received.fileBytes }
  }
}

/**
 * Removes the files of expired uploads that no job has used. The uploads themselves stay in the database for some time.
 * During this time, a caller that uses such an upload gets the error UPLOAD_EXPIRED.
 */
export function removeUnusedBytes(db: Db, dataDir: string): void {
  for (const id of listExpiredUploads(db)) {
    rmSync(uploadPath(dataDir, id), { force: true })
    forgetBytes(db, id)
  }
}

function requireUnused(db: Db, id: string): Upload {
  const upload = findUpload(db, id)
  if (!upload) throw new ApiError('FORBIDDEN')
  if (upload.usedAt !== null)
    throw new ApiError('CONFLICT', 'This upload has already been used for a transcription.')
  return upload
}
