// All running transfers of uploads, and all running downloads of jobs. The free disk space and the account's disk quota
// are checked while bytes arrive.

import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import { ApiError, JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { excessOf, type RoomSettings, requireDisk, requireDiskForJob } from './room.ts'
import { Transfer, type TransferFacts } from './transfer.ts'

export type TransferSettings = RoomSettings & Pick<Config, 'requestIdleMs'>

export type RunningDownload = {
  /**
   * Must be called after each chunk. `bytes` is the present size of the file, and `total` its final size, or null if
   * unknown. Throws a JobFailure if the disk is full or if the account exceeds its disk quota.
   */
  count(bytes: number, total: number | null): void
  end(): void
}

export class Transfers {
  readonly #db: Db
  readonly #config: TransferSettings
  readonly #running = new Map<string, Transfer>()
  readonly #downloads = new Set<{ accountId: string; bytes: number }>()

  constructor({ db, config }: { db: Db; config: TransferSettings }) {
    this.#db = db
    this.#config = config
  }

  /**
   * Begins a transfer, which the caller must end with `end`. Throws an ApiError if the upload already has a running
   * transfer, or if the account has too many running transfers.
   */
  begin(id: string, facts: Omit<TransferFacts, 'idleMs'>): Transfer {
    if (this.#running.has(id))
      throw new ApiError('CONFLICT', 'Another request is sending to this address; wait until it ends.')
    const underWay = this.#transfersOf(facts.accountId).length
    if (underWay >= limits.uploadsInFlightMax) {
      throw new ApiError('RATE_LIMIT_EXCEEDED', `${underWay} uploads are under way; wait until one ends.`, {
        'Retry-After': `${limits.uploadRetryAfterMs / 1000}`,
      })
    }
    const transfer = new Transfer({ ...facts, idleMs: this.#config.requestIdleMs })
    this.#running.set(id, transfer)
    return transfer
  }

  end(id: string): void {
    this.#running.delete(id)
  }

  /**
   * Returns the ids of the running transfers. When a file is sent to an upload, its transfer has the id of the upload.
   * When a file arrives in a multipart form, no upload exists for it yet, so its transfer has a new id. The result
   * contains this id too. The callers compare the result with the ids of uploads, so the additional id has no effect.
   */
  uploadIds(): string[] {
    return [...this.#running.keys()]
  }

  /**
   * Begins the download of a file for a job, which the caller must end with `end`. Its bytes count towards the disk
   * quota of the account.
   */
  beginDownload(accountId: string): RunningDownload {
    const download = { accountId, bytes: 0 }
    this.#downloads.add(download)
    let checkAt = 0
    return {
      count: (bytes, total) => {
        requireDiskForJob(this.#config)
        download.bytes = Math.max(bytes, total ?? 0)
        if (bytes < checkAt) return
        checkAt = bytes + limits.downloadCheckBytes
        const excess = this.#excessOf(accountId)
        if (!excess) return
        // The refused download ends later. Until then, its bytes must not count towards the quota, because other
        // transfers of the account would be refused too.
        this.#downloads.delete(download)
        throw new JobFailure('DOWNLOAD_FAILED', excess)
      },
      end: () => void this.#downloads.delete(download),
    }
  }

  /**
   * Yields the chunks of a request body. Throws an ApiError if the disk or the account's quota is full, if no chunk
   * arrives within the idle timeout, or if the transfer was stopped.
   */
  async *admitted(transfer: Transfer, body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
    if (!body) return
    let unchecked = 0
    for await (const chunk of transfer.chunksOf(body)) {
      unchecked += chunk.byteLength
      if (unchecked >= limits.uploadCheckBytes) {
        this.requireRoom(transfer.accountId, 0)
        unchecked = 0
      }
      yield chunk
    }
    this.requireRoom(transfer.accountId, 0)
  }

  /**
   * Throws an ApiError if the account exceeds its disk quota, or if `bytesOnDisk` more bytes would leave too little
   * free space on the disk. The account's running transfers and downloads count towards the quota.
   */
  requireRoom(accountId: string, bytesOnDisk: number): void {
    const excess = this.#excessOf(accountId)
    if (excess) throw new ApiError('INSUFFICIENT_STORAGE', excess)
    requireDisk(this.#config, bytesOnDisk)
  }

  /** Shortens the idle timeout of all running transfers. Called when the server begins to stop. */
  hurry(): void {
    for (const transfer of this.#running.values()) transfer.hurry(limits.stopIdleMs)
  }

  #excessOf(accountId: string): string | null {
    const downloads = [...this.#downloads].filter(download => download.accountId === accountId)
    const incoming = [...this.#transfersOf(accountId), ...downloads].reduce(
      (sum, { bytes }) => sum + bytes,
      0,
    )
    return excessOf(this.#db, accountId, this.#config, incoming)
  }

  #transfersOf(accountId: string): Transfer[] {
    return [...this.#running.values()].filter(transfer => transfer.accountId === accountId)
  }
}
