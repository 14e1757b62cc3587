// Receives files that arrive as a part of a multipart form.

import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { newId } from '../base/id.ts'
import { removeFile } from '../base/remove-file.ts'
import { Draft } from '../base/whole-file.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import { whenUnlocked } from '../db/when-unlocked.ts'
import { ApiError } from '../errors.ts'
import { limits } from '../limits.ts'
import { type Received, receive, syncFolder, uploadPath } from './disk.ts'
import type { TransferSettings, Transfers } from './transfers.ts'
import { completeUpload, createUpload, type Upload } from './upload.ts'

export type StoreConfig = TransferSettings & Pick<Config, 'fileBytesMax' | 'uploadTtlMs'>

type FileFacts = { filename: string; contentType: string }

/**
 * A file that arrived in a form, stored as a draft (a temporary file). The draft is removed when this object is
 * disposed, unless `keep` has succeeded.
 */
export type HeldFile = Disposable & {
  fileBytes: number
  /** Creates an upload from this file: the draft is renamed to the path of the upload's file. */
  keep(accountId: string, facts: FileFacts): Promise<Upload>
}

export class FormFiles {
  readonly #db: Db
  readonly #config: StoreConfig
  readonly #transfers: Transfers

  constructor({ db, config, transfers }: { db: Db; config: StoreConfig; transfers: Transfers }) {
    this.#db = db
    this.#config = config
    this.#transfers = transfers
  }

  /**
   * Yields the chunks of a form that contains a file. Throws an ApiError if the declared size is too large, or if the
   * account has too many running transfers. Also throws if the disk or the account's quota is full, or if no bytes
   * arrive within the idle timeout.
   */
  async *chunksOf(
    accountId: string,
    body: ReadableStream<Uint8Array> | null,
    bytesDeclared: number,
  ): AsyncGenerator<Uint8Array> {
    const id = newId()
    if (bytesDeclared > this.#config.fileBytesMax + limits.formExtraBytesMax)
      throw new ApiError('PAYLOAD_TOO_LARGE', 'The file is larger than the limit.')
    const transfer = this.#transfers.begin(id, { accountId, bytesDeclared })
    try {
      this.#transfers.requireRoom(accountId, bytesDeclared)
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

  async #keep(
    draft: Draft,
    { id, accountId, filename, contentType }: FileFacts & { id: string; accountId: string },
    received: Received,
  ): Promise<Upload> {
    const { dataDir, uploadTtlMs: ttlMs } = this.#config
    const path = uploadPath(dataDir, id)
    const upload = await whenUnlocked(this.#db, () => {
      const created = createUpload(this.#db, accountId, { id, filename, contentType, ttlMs })
      renameSync(draft.path, path)
      completeUpload(this.#db, id, received)
      return created
    }).catch(error => {
      // If the transaction is rolled back, the database does not know this file, and no periodic task would remove it.
      removeFile(path)
      throw error
    })
    await syncFolder(dirname(path))
    return { ...upload, fileBytes: received.fileBytes }
  }
}
