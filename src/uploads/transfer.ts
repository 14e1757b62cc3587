// One body on its way in. It may be as slow as it likes, but it has to move.

import { ApiError } from '../errors.ts'

export class Transfer {
  readonly accountId: string
  /** What has come, or what was declared where that is more. */
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

  /** Gives the chunks of the body. Throws when none comes for too long. */
  async *chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = body.getReader()
    let isCut = false
    let received = 0
    this.#cut = () => {
      isCut = true
      // A read under way ends then as at the end of the body.
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
      // A body that is not read to its end is of no use.
      reader.cancel().catch(() => {})
    }
  }

  /** Allows only this much silence from here on. */
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
