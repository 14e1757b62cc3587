// Receives the files of uploads: from PUTs to signed addresses, and from forms that contain a file.

import { renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { newId } from '../base/id.ts'
import { Draft } from '../base/whole-file.ts'
import type { Config } from '../config.ts'
import { type Db, refusalOf } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { limits } from '../limits.ts'
import { type Received, receive, syncFolder, uploadPath } from './disk.ts'
import { type RoomSettings, requireDisk, requireQuota } from './room.ts'
import { Transfer } from './transfer.ts'
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

type StoreConfig = RoomSettings & Pick<Config, 'fileBytesMax' | 'requestIdleMs' | 'uploadTtlMs'>

type FileFacts = { filename: string; contentType: string }

/** A complete file of a form. It is removed at the end of the block that declares it with `using`, unless it is kept. */
export type HeldFile = Disposable & {
  fileBytes: number
  /** Creates an upload with this file. */
  keep(accountId: string, facts: FileFacts): Promise<Upload>
}

export class UploadStore {
  readonly #db: Db
  readonly #config: StoreConfig
  /**
   * The running PUTs, by the id of the upload: an upload accepts one PUT at a time. Also the forms that are being
   * received, each with an id of its own.
   */
  readonly #transfers = new Map<string, Transfer>()

  constructor({ db, config }: { db: Db; config: StoreConfig }) {
    this.#db = db
    this.#config = config
  }

  /**
   * Stores the body of a PUT as the file of an upload. Replaces an earlier file atomically. If the PUT fails,
   * the earlier file remains. A body is not read when `bytesDeclared`, its Content-Length, is larger than the
   * limit.
   */
  async put(id: string, body: ReadableStream<Uint8Array> | null, bytesDeclared: number): Promise<Received> {
    const { fileBytesMax: bytesMax, dataDir } = this.#config
    const { accountId } = requireUnused(this.#db, id)
    const transfer = this.#begin(id, accountId, bytesDeclared)
    try {
      this.#requireRoom(transfer, Math.min(bytesDeclared, bytesMax))
      const path = uploadPath(dataDir, id)
      using draft = new Draft(path)
      const received =
        bytesDeclared > bytesMax
          ? null
          : await receive(this.#admitted(transfer, body), draft.path, { bytesMax })
      if (!received) {
        markTooLarge(this.#db, id)
        throw new ApiError('PAYLOAD_TOO_LARGE', 'The file is larger than the limit; nothing was kept.')
      }
      await this.#whenUnlocked(() => {
        // A job may have used the upload while the PUT was running.
        requireUnused(this.#db, id)
        // The file is already flushed to the disk. Draft.replace() would flush it again and block all other
        // requests.
        renameSync(draft.path, path)
        completeUpload(this.#db, id, received)
      })
      await syncFolder(dirname(path))
      return received
    } finally {
      this.#transfers.delete(id)
    }
  }

  /**
   * Yields the bytes of a form that contains a file for this account. Throws an ApiError when the disk is full,
   * when the account has used its disk quota, and when the bytes stop coming.
   */
  async *chunksOfForm(
    accountId: string,
    body: ReadableStream<Uint8Array> | null,
    bytesDeclared: number,
  ): AsyncGenerator<Uint8Array> {
    const id = newId()
    if (bytesDeclared > this.#config.fileBytesMax + limits.formExtraBytesMax)
      throw new ApiError('PAYLOAD_TOO_LARGE', 'The file is larger than the limit.')
    const transfer = this.#begin(id, accountId, bytesDeclared)
    try {
      this.#requireRoom(transfer, Math.min(bytesDeclared, this.#config.fileBytesMax))
      yield* this.#admitted(transfer, body)
    } finally {
      this.#transfers.delete(id)
    }
  }

  /** Stores a file that arrives inside a form as a draft. An upload is created only by `keep`. */
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

  /** Deletes an upload that no job has used, and its file. */
  discard(id: string): void {
    purgeUpload(this.#db, id)
    rmSync(uploadPath(this.#config.dataDir, id), { force: true })
  }

  /** Throws an ApiError when the disk is full or the account has used its disk quota. */
  requireRoom(accountId: string): void {
    this.#requireRoom({ accountId }, 0)
  }

  /** Shortens the idle timeout of all running PUTs and forms. Called before the server stops. */
  hurry(): void {
    for (const transfer of this.#transfers.values()) transfer.hurry(limits.stopIdleMs)
  }

  #begin(id: string, accountId: string, bytesDeclared: number): Transfer {
    if (this.#transfers.has(id))
      throw new ApiError('CONFLICT', 'Another request is sending to this address; wait until it ends.')
    const underWay = this.#transfersOf(accountId).length
    if (underWay >= limits.uploadsInFlightMax) {
      throw new ApiError('RATE_LIMIT_EXCEEDED', `${underWay} uploads are under way; wait until one ends.`, {
        'Retry-After': `${limits.uploadRetryAfterMs / 1000}`,
      })
    }
    const transfer = new Transfer({ accountId, bytesDeclared, idleMs: this.#config.requestIdleMs })
    this.#transfers.set(id, transfer)
    return transfer
  }

  async #keep(
    draft: Draft,
    { id, accountId, filename, contentType }: FileFacts & { id: string; accountId: string },
    received: Received,
  ): Promise<Upload> {
    const { dataDir, uploadTtlMs: ttlMs } = this.#config
    const path = uploadPath(dataDir, id)
    const upload = await this.#whenUnlocked(() => {
      renameSync(draft.path, path)
      const created = createUpload(this.#db, accountId, { id, filename, contentType, ttlMs })
      completeUpload(this.#db, id, received)
      return created
    })
    await syncFolder(dirname(path))
    return { ...upload, fileBytes: received.fileBytes }
  }

  /** Yields the chunks of a body. Throws an ApiError when the disk or the quota of the account is full. */
  async *#admitted(transfer: Transfer, body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
    if (!body) return
    let unchecked = 0
    for await (const chunk of transfer.chunksOf(body)) {
      unchecked += chunk.byteLength
      if (unchecked >= limits.uploadCheckBytes) {
        this.#requireRoom(transfer, 0)
        unchecked = 0
      }
      yield chunk
    }
    this.#requireRoom(transfer, 0)
  }

  /**
   * Throws an ApiError when the quota or the disk is exceeded. The quota includes the bytes of all running PUTs
   * and forms of the account. The disk must have room for `bytesOnDisk` more bytes.
   */
  #requireRoom({ accountId }: { accountId: string }, bytesOnDisk: number): void {
    const incoming = this.#transfersOf(accountId).reduce((sum, { bytes }) => sum + bytes, 0)
    requireQuota(this.#db, accountId, this.#config, incoming)
    requireDisk(this.#config, bytesOnDisk)
  }

  /**
   * Writes to the database. Retries while another process holds the write lock, so that a long PUT is not
   * lost.
   */
  async #whenUnlocked<Written>(write: () => Written): Promise<Written> {
    const lastTryAt = performance.now() + limits.databaseBusyMs
    for (;;) {
      try {
        return this.#db.tx(write)
      } catch (error) {
        if (refusalOf(error) !== 'busy' || performance.now() >= lastTryAt) throw error
        await Bun.sleep(limits.serverBusyMs)
      }
    }
  }

  #transfersOf(accountId: string): Transfer[] {
    return [...this.#transfers.values()].filter(transfer => transfer.accountId === accountId)
  }
}

/**
 * Removes the files of expired uploads that no job used. The database keeps these uploads for a while, so
 * that a caller gets the error UPLOAD_EXPIRED.
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
