// Lets only one request at a time use a resumable upload. If another request for the same upload arrives, it ends the
// running request, because the connection of the running request may be dead.

import { ApiError } from '../errors.ts'
import type { Transfer } from './transfer.ts'

/** The time in which one request uses an upload. No other request uses the upload at the same time. */
export class Turn {
  #transfer: Transfer | null = null
  #isOver = false

  constructor(readonly done: Promise<void>) {}

  /**
   * Sets the transfer of this turn. The transfer receives the bytes of the request that uses the upload. If another
   * request needs the upload later, it ends this turn, and the transfer is stopped. If another request has ended this
   * turn before this call, the transfer is stopped at once.
   */
  start(transfer: Transfer): void {
    this.#transfer = transfer
    if (this.#isOver) transfer.stop(overtaken())
  }

  end(): void {
    this.#isOver = true
    this.#transfer?.stop(overtaken())
  }
}

export class Turns {
  /**
   * The current turn of each upload, by the id of the upload. A turn is the time in which one request uses an upload.
   */
  readonly #running = new Map<string, Turn>()

  /**
   * Calls `use` while no other request uses the upload. If another request for the upload is running, first ends that
   * request, and waits until all its bytes are on the disk.
   */
  async take<Result>(id: string, use: (turn: Turn) => Promise<Result>): Promise<Result> {
    for (let other = this.#running.get(id); other; other = this.#running.get(id)) {
      other.end()
      await other.done
    }
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const turn = new Turn(done)
    this.#running.set(id, turn)
    try {
      return await use(turn)
    } finally {
      this.#running.delete(id)
      resolve()
    }
  }
}

function overtaken(): ApiError {
  return new ApiError('CONFLICT', 'A later request continues this upload.')
}
