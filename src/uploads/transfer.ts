// Receives one request body with the bytes of a file. The body may arrive slowly. The transfer fails when no bytes
// arrive within the idle timeout.

import { ApiError } from '../errors.ts'

export type TransferFacts = {
  accountId: string
  /** The Content-Length of the request. */
  bytesDeclared: number
  /** True when the quota of the account already includes these bytes. */
  isReserved?: boolean
  idleMs: number
}

export class Transfer {
  readonly accountId: string
  /**
   * The bytes that count towards the quota: the Content-Length of the request, or the number of received bytes if it
   * is larger. 0 when the quota already includes the bytes.
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
   * Yields the chunks of the body. Throws an ApiError when no chunk arrives within the idle timeout, and when
   * the transfer is stopped.
   */
  async *chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = body.getReader()
    let received = 0
    this.#cut = () => void reader.cancel().catch(() => {})
    try {
      for (;;) {
        if (this.#stopped) throw this.#stopped
        this.#arm()
        const { value, done } = await reader.read()
        // After `cancel`, a pending read returns as if the body had ended. Therefore this check comes first.
        if (this.#stopped) throw this.#stopped
        if (done) return
        this.#disarm()
        received += value.byteLength
        if (!this.#isReserved) this.bytes = Math.max(this.bytes, received)
        yield value
      }
    } finally {
      this.#disarm()
      // If the loop ended early, the remaining bytes of the body are not needed. `cancel` stops the body.
      reader.cancel().catch(() => {})
    }
  }

  /** Ends the transfer with this error. A pending read also ends. */
  stop(error: ApiError): void {
    this.#stopped ??= error
    this.#cut()
  }

  /** Sets a shorter idle timeout. The new timeout also applies to a pending read. */
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
