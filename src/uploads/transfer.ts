// Receives the body of one PUT. It may be slow, but it fails when no bytes arrive for too long.

import { ApiError } from '../errors.ts'

export class Transfer {
  readonly accountId: string
  /** The number of received bytes, or of declared bytes if that is larger. */
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

  /** Yields the chunks of the body. Throws when none arrives within the idle timeout. */
  async *chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = body.getReader()
    let isCut = false
    let received = 0
    this.#cut = () => {
      isCut = true
      // This ends a pending read as if the body had ended.
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
      // An incomplete body is useless.
      reader.cancel().catch(() => {})
    }
  }

  /** Sets a shorter idle timeout, also for a pending read. */
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
