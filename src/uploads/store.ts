// PUTs to signed addresses, from the first byte to a file in place.

import { renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
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
  findUpload,
  forgetBytes,
  listExpiredUploads,
  markTooLarge,
  type Upload,
} from './upload.ts'

type StoreConfig = RoomSettings & Pick<Config, 'fileBytesMax' | 'requestIdleMs'>

export class UploadStore {
  readonly #db: Db
  readonly #config: StoreConfig
  /** By upload: an address takes one PUT at a time. */
  readonly #transfers = new Map<string, Transfer>()

  constructor({ db, config }: { db: Db; config: StoreConfig }) {
    this.#db = db
    this.#config = config
  }

  /** Replaces the bytes in one step, or changes nothing. A body that declares too many bytes is not read. */
  async put(id: string, body: ReadableStream<Uint8Array> | null, bytesDeclared: number): Promise<Received> {
    const { fileBytesMax: bytesMax, dataDir } = this.#config
    const transfer = this.#begin(requireUnused(this.#db, id), bytesDeclared)
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
        // A job may have taken the upload while the bytes came.
        requireUnused(this.#db, id)
        // The bytes are on the disk already: a draft that syncs itself would hold up all other requests.
        renameSync(draft.path, path)
        completeUpload(this.#db, id, received)
      })
      await syncFolder(dirname(path))
      return received
    } finally {
      this.#transfers.delete(id)
    }
  }

  /** Throws when there is no room for more media of this account. */
  requireRoom(accountId: string): void {
    this.#requireRoom({ accountId }, 0)
  }

  /** Lets transfers that move go on, and ends the others soon. */
  hurry(): void {
    for (const transfer of this.#transfers.values()) transfer.hurry(limits.stopIdleMs)
  }

  #begin({ id, accountId }: Upload, bytesDeclared: number): Transfer {
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

  /** The chunks of a body, as long as there is room for them. */
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

  /** The account answers for all that its transfers have declared, the disk only for what is on it. */
  #requireRoom({ accountId }: { accountId: string }, bytesOnDisk: number): void {
    const incoming = this.#transfersOf(accountId).reduce((sum, { bytes }) => sum + bytes, 0)
    requireQuota(this.#db, accountId, this.#config, incoming)
    requireDisk(this.#config, bytesOnDisk)
  }

  /** Hours of sending are not thrown away because another process writes for a moment. */
  async #whenUnlocked(write: () => void): Promise<void> {
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

/** Removes the bytes of uploads that expired unused. Their rows stay for a while, so that callers learn the reason. */
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
