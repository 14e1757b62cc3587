/**
 * The work that waits for a slot of a semaphore. Each key (the name of a caller) has a queue. The keys are in the order
 * of their turns.
 */
export class Queues {
  #queues = new Map<string, Queue>()

  add(key: string, go: () => void): void {
    const queue = this.#queues.get(key) ?? openQueue()
    queue.waiting.add(go)
    this.#queues.set(key, queue)
  }

  drop(key: string, go: () => void): void {
    const waiting = this.#queues.get(key)?.waiting
    waiting?.delete(go)
    if (waiting?.size === 0) this.#queues.delete(key)
  }

  /**
   * Removes and returns the next work of the first key that `mayTake` accepts. If this key has more work, the key moves
   * to the end. Returns null if `mayTake` accepts no waiting key.
   */
  takeNext(mayTake: (key: string) => boolean): { key: string; go: () => void } | null {
    for (const [key, queue] of this.#queues) {
      const go = mayTake(key) ? queue.inOrder.next().value : undefined
      if (!go) continue
      this.#queues.delete(key)
      queue.waiting.delete(go)
      if (queue.waiting.size > 0) this.#queues.set(key, queue)
      return { key, go }
    }
    return null
  }
}

/**
 * The waiting work of one key. `inOrder` is one iterator, which is used until the queue is empty. A Set keeps an empty
 * entry for each removed element for some time. A new iterator for each piece of work would skip all these entries
 * again: 80,000 pieces of work would take 3 s.
 */
type Queue = { waiting: Set<() => void>; inOrder: Iterator<() => void, undefined> }

function openQueue(): Queue {
  const waiting = new Set<() => void>()
  return { waiting, inOrder: waiting.values() }
}
