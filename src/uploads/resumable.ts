// Resumable uploads. Each request continues at the end of the partial file on the disk. The size of this file is the
// number of received bytes. The database stores this number only for a complete file.

import { rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import { whenUnlocked } from '../db/when-unlocked.ts'
import { ApiError } from '../errors.ts'
import { append, syncFolder, uploadPath } from './disk.ts'
import type { Transfers } from './transfers.ts'
import { type Turn, Turns } from './turns.ts'
import { completeUpload, createUpload, findUpload, purgeUpload, renewUpload, type Upload } from './upload.ts'

type ResumableConfig = Pick<Config, 'dataDir' | 'fileBytesMax' | 'uploadTtlMs'>

/** An upload and the number of its received bytes, `offset`. */
export type Progressed = { upload: ResumableUpload; offset: number }

export type ResumableUpload = Upload & { declaredBytes: number }

/** The position in the file at which the bytes of a request begin, and the Content-Length of the request. */
type Sent = { offset: number; bytesDeclared: number }

export class ResumableUploads {
  readonly #db: Db
  readonly #config: ResumableConfig
  readonly #transfers: Transfers
  readonly #turns = new Turns()

  constructor({ db, config, transfers }: { db: Db; config: ResumableConfig; transfers: Transfers }) {
    this.#db = db
    this.#config = config
    this.#transfers = transfers
  }

  /**
   * Creates an upload for a file of `declaredBytes`. These bytes count towards the disk quota of the account from this
   * time on.
   */
  create(
    accountId: string,
    {
      declaredBytes,
      ...facts
    }: { filename: string; contentType: string; declaredBytes: number; metadata: string | null },
  ): ResumableUpload {
    if (declaredBytes > this.#config.fileBytesMax)
      throw new ApiError('PAYLOAD_TOO_LARGE', 'The file is larger than the limit.')
    const { uploadTtlMs: ttlMs } = this.#config
    return this.#db.tx(() => {
      const upload = createUpload(this.#db, accountId, { ...facts, declaredBytes, ttlMs })
      // `requireRoom` is called after the row is written, so that it counts the declared size of this upload too. If it
      // throws, because the account exceeds its disk quota or the disk is too full, the transaction is rolled back.
      this.#transfers.requireRoom(accountId, declaredBytes)
      return { ...upload, declaredBytes }
    })
  }

  /**
   * Returns an upload with the number of its received bytes. Ends any other running request for this upload: its
   * connection may be dead.
   */
  async find(accountId: string, id: string): Promise<Progressed> {
    return await this.#alone(accountId, id, upload => this.#settled(upload))
  }

  /**
   * Appends a request body to the partial file of an upload. Rejects with an ApiError if the partial file does not have
   * exactly `offset` bytes. Also rejects if another request for the same upload arrives. Bytes that arrive before an
   * error are kept.
   */
  async append(
    accountId: string,
    id: string,
    { offset, body, bytesDeclared }: Sent & { body: ReadableStream<Uint8Array> | null },
  ): Promise<Progressed> {
    return await this.#alone(accountId, id, async (upload, turn) => {
      const { offset: arrived } = await this.#settled(upload)
      if (upload.usedAt !== null) throw used()
      if (offset !== arrived) {
        const message = `Upload-Offset is ${offset}, but ${arrived} bytes have arrived.`
        throw new ApiError('CONFLICT', message, { 'Upload-Offset': `${arrived}` })
      }
      if (offset + bytesDeclared > upload.declaredBytes) throw tooLong()
      if (body) await this.#receive(upload, turn, { offset, body, bytesDeclared })
      return await this.#settled(this.#require(accountId, id))
    })
  }

  /** Deletes an upload and its file. Throws an ApiError if the upload was used, has expired, or does not exist. */
  async remove(accountId: string, id: string): Promise<void> {
    await this.#alone(accountId, id, async upload => {
      if (upload.usedAt !== null) throw used()
      await rm(this.#pathOf(id), { force: true })
      await whenUnlocked(this.#db, () => purgeUpload(this.#db, id))
    })
  }

  async #receive(
    { id, accountId, declaredBytes }: ResumableUpload,
    turn: Turn,
    { offset, body, bytesDeclared }: Sent & { body: ReadableStream<Uint8Array> },
  ): Promise<void> {
    const transfer = this.#transfers.begin(id, { accountId, bytesDeclared, isReserved: true })
    turn.start(transfer)
    try {
      this.#transfers.requireRoom(accountId, bytesDeclared)
      // Without this renewal, the upload could expire while its bytes arrive.
      await whenUnlocked(this.#db, () => {
        this.#require(accountId, id)
        this.#renew(id)
      })
      const chunks = this.#renewing(id, this.#transfers.admitted(transfer, body))
      const isWhole = await append(chunks, this.#pathOf(id), { from: offset, bytesMax: declaredBytes })
      if (!isWhole) throw tooLong()
    } finally {
      this.#transfers.end(id)
      await whenUnlocked(this.#db, () => this.#renew(id))
    }
  }

  #renew(id: string): void {
    renewUpload(this.#db, id, this.#config.uploadTtlMs)
  }

  /** Yields the chunks of a body. While the chunks arrive, extends the expiry time of the upload. */
  async *#renewing(id: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { uploadTtlMs } = this.#config
    let renewedAt = this.#db.now()
    for await (const chunk of chunks) {
      if (this.#db.now() - renewedAt > uploadTtlMs / 4) {
        renewedAt = this.#db.now()
        this.#renew(id)
      }
      yield chunk
    }
  }

  /**
   * Returns an upload with the number of its received bytes. If all declared bytes have arrived, marks the upload as
   * complete.
   */
  async #settled(upload: ResumableUpload): Promise<Progressed> {
    const { id, declaredBytes, fileBytes } = upload
    if (fileBytes !== null) return { upload, offset: fileBytes }
    const path = this.#pathOf(id)
    const offset = await sizeOf(path)
    if (offset < declaredBytes) return { upload, offset }
    await syncFolder(dirname(path))
    await whenUnlocked(this.#db, () => completeUpload(this.#db, id, { fileBytes: offset }))
    return { upload: { ...upload, fileBytes: offset }, offset }
  }

  /** Calls `use` while no other request uses the upload. A request that already uses the upload is ended first. */
  async #alone<Result>(
    accountId: string,
    id: string,
    use: (upload: ResumableUpload, turn: Turn) => Promise<Result>,
  ): Promise<Result> {
    this.#require(accountId, id)
    return await this.#turns.take(id, turn => use(this.#require(accountId, id), turn))
  }

  #require(accountId: string, id: string): ResumableUpload {
    const upload = findUpload(this.#db, id)
    if (!upload || upload.accountId !== accountId) throw new ApiError('UPLOAD_NOT_FOUND')
    const { declaredBytes } = upload
    if (upload.usedAt === null && upload.expiresAt <= this.#db.now())
      throw new ApiError('GONE', 'This upload has expired; create a new one.')
    if (declaredBytes === null) throw new ApiError('UPLOAD_NOT_FOUND')
    return { ...upload, declaredBytes }
  }

  #pathOf(id: string): string {
    return uploadPath(this.#config.dataDir, id)
  }
}

/**
 * Returns the size of a file, or 0 if it is missing. Throws after any other error: if this function then returned 0,
 * the client would send the whole file again.
 */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

function used(): ApiError {
  return new ApiError('CONFLICT', 'This upload has already been used for a transcription.')
}

function tooLong(): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', 'The body has more bytes than Upload-Length announced.')
}
