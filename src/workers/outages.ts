// The outages of the connection of a worker to NATS. NATS forgets the requests of a connection when it breaks, so their
// answers never arrive.

import { log } from '../base/log.ts'
import { beforeStop } from '../net/before-stop.ts'
import type { NatsConnection } from './connection.ts'

export class Outages {
  #lost = new AbortController()
  #back = Promise.withResolvers<void>()

  constructor(nats: NatsConnection) {
    this.#back.resolve()
    void this.#watch(nats)
  }

  /** Is aborted when the connection breaks. There is a new signal when the connection is open again. */
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

  async #watch(nats: NatsConnection): Promise<void> {
    for await (const { type } of nats.status()) {
      if (type === 'disconnect') {
        log.warn('nats lost')
        this.#back = Promise.withResolvers()
        this.#lost.abort()
      }
      if (type === 'reconnect') {
        log.info('nats connected', { server: nats.getServer() })
        this.#lost = new AbortController()
        this.#back.resolve()
      }
    }
  }
}
