// The outages of the connection of a worker to NATS. When the connection breaks, the answers to open requests are lost.

import { log } from '../base/log.ts'
import { beforeStop } from '../net/before-stop.ts'
import type { NatsConnection } from './connection.ts'

export class Outages {
  #lost = new AbortController()
  #back = Promise.withResolvers<void>()

  /** `onBack` is called each time that the connection is open again. */
  constructor(nats: NatsConnection, onBack: () => void) {
    this.#back.resolve()
    void this.#watch(nats, onBack)
  }

  /** A signal that is aborted when the connection breaks. When the connection is open again, there is a new signal. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /**
   * Resolves when there is a connection: at once if it is open. Rejects with the reason of `stop` if this signal is
   * aborted before.
   */
  async connected(stop: AbortSignal): Promise<void> {
    await beforeStop(this.#back.promise, stop)
    stop.throwIfAborted()
  }

  /**
   * During one outage, the client of NATS may report several disconnects, and then as many reconnects. Only the first
   * of each counts.
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
