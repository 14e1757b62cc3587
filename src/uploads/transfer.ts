// Receives the body of one PUT. A slow body is accepted. A body fails when no bytes arrive within the idle
// timeout.

import { ApiError } from '../errors.ts'

export class Transfer {
  readonly accountId: string
  /** The Content-Length of the PUT, or the number of received bytes if that number is larger. */
  bytes: number
  #idleMs: number
  #timer: Timer | null = null
  #cut: () => void = () => {}

  constructor({
    accountId,
    bytesDeclared,
    idleMs,
  }: { accountId: string; bytesDeclared: number; idleMs: number }) {
    this.accountId = accountId
    this.bytes = bytesDeclared
    this.#idleMs = idleMs
  }

  /** Yields the chunks of the body. Throws an ApiError when no chunk arrives within the idle timeout. */
  async *chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = body.getReader()
    let isCut = false
    let received = 0
    this.#cut = () => {
      isCut = true
      // After `cancel`, a pending read returns as if the body had ended. Therefore `isCut` is needed.
      reader.cancel().catch(() => {})
    }
    try {
      for (;;) {
        this.#arm()
        const { value, done } = await reader.read()
        if (isCut) throw new ApiError('REQUEST_TIMEOUT')
        if (done) return
        this.#disarm()
        received += value.byteLength
        this.bytes = Math.max(this.bytes, received)
        yield value
      }
    } finally {
      this.#disarm()
      // Cancels the body when the loop ended early. An incomplete body cannot be used.
      reader.cancel().catch(() => {})
    }
  }

  /** Sets a shorter idle timeout. The new timeout also applies to a pending read. */
  hurry(idleMs: number): void {
    this.#idleMs = idleMs
    if (this.#timer) this.#arm()
  }

  #arm(): void {
    this.#disarm()
    this.#timer = setTimeout(this.#cut, this.#idleMs)
  }

  #disarm(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }
}
