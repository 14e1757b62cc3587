// Lets only one request at a time use a resumable upload. Another request for the same upload ends the running request,
// because the running request's connection may be dead.

import { ApiError } from '../errors.ts'
import type { Transfer } from './transfer.ts'

/** The time in which exactly one request uses an upload. */
export class Turn {
  #transfer: Transfer | null = null
  #isOver = false

  constructor(readonly done: Promise<void>) {}

  /**
   * Sets the transfer that receives the bytes of this turn's request. A call of `end` stops the transfer. If `end` was
   * called before, the transfer is stopped at once.
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
   * Calls `use` while no other request uses the upload. First ends another running request for the upload, and waits
   * until the bytes of that request are on the disk.
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
