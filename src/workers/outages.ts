// Detects outages of a worker's connection to NATS. When the connection breaks, the answers to open requests are lost.
// So the worker stops waiting for them, and goes on when the connection is back.

import { log } from '../base/log.ts'
import { beforeStop } from '../net/before-stop.ts'
import type { NatsConnection } from './connection.ts'

export class Outages {
  #lost = new AbortController()
  #back = Promise.withResolvers<void>()

  /** `onBack` is called after each reconnect. */
  constructor(nats: NatsConnection, onBack: () => void) {
    this.#back.resolve()
    void this.#watch(nats, onBack)
  }

  /** A signal that is aborted when the connection breaks. A reconnect makes a new signal. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Resolves when the connection is open. Rejects with the reason of `stop` if `stop` is aborted first. */
  async connected(stop: AbortSignal): Promise<void> {
    await beforeStop(this.#back.promise, stop)
    stop.throwIfAborted()
  }

  /**
   * The NATS client may report several disconnects in one outage, and then as many reconnects. Only the first
   * disconnect and the first reconnect count.
   */
  async #watch(nats: NatsConnection, onBack: () => void): Promise<void> {
    for await (const { type } of nats.status()) {
      const isLost = this.#lost.signal.aborted
      if (type === 'disconnect' && !isLost) {
        log.warn('nats lost')
        this.#back = Promise.withResolvers()
        this.#lost.abort()
      }
      if (type === 'reconnect' && isLost) {
        log.info('nats connected', { server: nats.getServer() })
        this.#lost = new AbortController()
        this.#back.resolve()
        onBack()
      }
    }
  }
}
