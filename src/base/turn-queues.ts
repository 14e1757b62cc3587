/**
 * The work that waits for a slot of a semaphore. Each key (the name of a caller) has a queue. The keys are in the order
 * of their turns.
 */
export class Queues {
  #queues = new Map<string, Set<() => void>>()

  has(key: string): boolean {
    return this.#queues.has(key)
  }

  add(key: string, go: () => void): void {
    this.#queues.set(key, (this.#queues.get(key) ?? new Set()).add(go))
  }

  drop(key: string, go: () => void): void {
    const queue = this.#queues.get(key)
    queue?.delete(go)
    if (queue?.size === 0) this.#queues.delete(key)
  }

  /**
   * Removes and returns the next work of the first key that `mayTake` accepts. If this key has more work, the key moves
   * to the end. Returns null if `mayTake` accepts no waiting key.
   */
  takeNext(mayTake: (key: string) => boolean): { key: string; go: () => void } | null {
    for (const [key, queue] of this.#queues) {
      const [go] = queue
      if (!go || !mayTake(key)) continue
      this.#queues.delete(key)
      queue.delete(go)
      if (queue.size > 0) this.#queues.set(key, queue)
      return { key, go }
    }
    return null
  }
}
