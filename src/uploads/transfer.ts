// Receives the body of one upload request: a file, a part of a file, or a form with a file. The body may arrive slowly.
// The request fails if no bytes arrive within the idle timeout.

import { openBreaks } from '../base/breaks.ts'
import { ApiError } from '../errors.ts'

export type TransferFacts = {
  accountId: string
  /** The Content-Length of the request, in bytes. */
  bytesDeclared: number
  /** True if the bytes of this request already count towards the disk quota, because the upload has a declared size. */
  isReserved?: boolean
  idleMs: number
}

export class Transfer {
  readonly accountId: string
  /**
   * The number of bytes that this transfer adds to the disk usage of the account. Zero if these bytes already count
   * towards the quota. Otherwise, the larger of the Content-Length and the number of received bytes.
   */
  bytes: number
  readonly #isReserved: boolean
  #idleMs: number
  #timer: Timer | null = null
  #stopped: ApiError | null = null
  #cut: () => void = () => {}

  constructor({ accountId, bytesDeclared, isReserved = false, idleMs }: TransferFacts) {
    this.accountId = accountId
    this.bytes = isReserved ? 0 : bytesDeclared
    this.#isReserved = isReserved
    this.#idleMs = idleMs
  }

  /**
   * Yields the chunks of the request body. Pauses at times, so that the event loop can handle other requests. Throws an
   * ApiError if no chunk arrives within the idle timeout, or if `stop` was called.
   */
  async *chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = body.getReader()
    const takeBreak = openBreaks()
    let received = 0
    this.#cut = () => void reader.cancel().catch(() => {})
    try {
      for (;;) {
        if (this.#stopped) throw this.#stopped
        this.#arm()
        const { value, done } = await reader.read()
        // After `reader.cancel`, a pending read returns as if the body had ended. So `#stopped` must be checked before
        // `done`.
        if (this.#stopped) throw this.#stopped
        if (done) return
        this.#disarm()
        received += value.byteLength
        if (!this.#isReserved) this.bytes = Math.max(this.bytes, received)
        yield value
        await takeBreak()
      }
    } finally {
      this.#disarm()
      // If the caller stops reading early, the remaining bytes are discarded.
      reader.cancel().catch(() => {})
    }
  }

  /** Ends the transfer with the given error. A pending read is ended too. */
  stop(error: ApiError): void {
    this.#stopped ??= error
    this.#cut()
  }

  /** Sets a shorter idle timeout. The shorter timeout also applies to a pending read. */
  hurry(idleMs: number): void {
    this.#idleMs = idleMs
    if (this.#timer) this.#arm()
  }

  #arm(): void {
    this.#disarm()
    this.#timer = setTimeout(() => this.stop(new ApiError('REQUEST_TIMEOUT')), this.#idleMs)
  }

  #disarm(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }
}
