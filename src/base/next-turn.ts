/**
 * Waits for the next turn of the event loop. A long task calls this function between its parts, so that the server can
 * answer requests meanwhile.
 */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** The next part of a long task, planned for a later turn of the event loop. */
export class LaterTurn {
  #planned: NodeJS.Immediate | null = null

  get isPlanned(): boolean {
    return this.#planned !== null
  }

  /** Plans a call for a later turn. Does nothing if a call is already planned. */
  plan(call: () => void): void {
    this.#planned ??= setImmediate(() => {
      this.#planned = null
      call()
    })
  }

  /** Cancels the planned call. */
  cancel(): void {
    if (this.#planned) clearImmediate(this.#planned)
    this.#planned = null
  }
}
