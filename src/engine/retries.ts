// Repeats attempts, with exponential backoff, until they succeed or the engine is closed.

import { setTimeout } from 'node:timers/promises'

export class Retries {
  readonly #closing = new AbortController()
  readonly #pauseMs: number
  readonly #pauseMsMax: number

  /** `pauseMs` is the pause after the first attempt. Each later pause is twice as long, up to `pauseMsMax`. */
  constructor({ pauseMs, pauseMsMax }: { pauseMs: number; pauseMsMax: number }) {
    this.#pauseMs = pauseMs
    this.#pauseMsMax = pauseMsMax
  }

  get closed(): boolean {
    return this.#closing.signal.aborted
  }

  close(): void {
    this.#closing.abort()
  }

  /** Calls `attempt` again and again, until it returns true or the engine is closed. */
  async run(attempt: () => Promise<boolean>): Promise<void> {
    for (let pauseMs = this.#pauseMs; !this.closed; pauseMs *= 2) {
      if (await attempt()) return
      await this.sleep(Math.min(pauseMs, this.#pauseMsMax))
    }
  }

  /** Waits for `ms` milliseconds. Returns earlier when the engine is closed. */
  async sleep(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#closing.signal }).catch(() => {})
  }
}
