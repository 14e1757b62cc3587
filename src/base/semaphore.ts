// A fair semaphore: waiting keys take turns, and no key may hold so many slots that another key finds no
// free slot. A key is a text that names a caller, such as an account id.

export type Semaphore = {
  /**
   * Calls `work` when `key` gets a slot, and returns its result. If `signal` is aborted before that, rejects
   * with the reason of the signal.
   */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/**
 * The maximum ratio between the slots that one key holds and the slots that stay free. The first key gets at most three
 * quarters of all slots. The second key gets at most three quarters of the remaining slots, and so on. Slots stay free
 * for the next key because running work is never interrupted.
 */
const heldPerFree = 3

type Waiting = Set<() => void>

export function openSemaphore(slots: number): Semaphore {
  let free = slots
  const held = new Map<string, number>()
  /**
   * The keys that have waiting work, in the order of their turns. The key that got a slot last is at the
   * end.
   */
  const queues = new Map<string, Waiting>()

  /** Returns true if the key may take a slot now. */
  function mayTake(key: string): boolean {
    const holds = held.get(key) ?? 0
    return free > 0 && (holds === 0 || holds + 1 <= heldPerFree * (free - 1))
  }

  function take(key: string): void {
    free -= 1
    held.set(key, (held.get(key) ?? 0) + 1)
  }

  function enter(key: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (!queues.has(key) && mayTake(key)) {
      take(key)
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        drop(key, go)
        reject(signal?.reason)
      }
      const go = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const queue = queues.get(key) ?? new Set()
      queues.set(key, queue.add(go))
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  function exit(key: string): void {
    free += 1
    const holds = (held.get(key) ?? 0) - 1
    if (holds > 0) held.set(key, holds)
    else held.delete(key)
    while (serveNext());
  }

  /**
   * Assigns a slot to the first waiting key that may take one. Returns false if no waiting key may take a
   * slot.
   */
  function serveNext(): boolean {
    if (free === 0) return false
    for (const [key, queue] of queues) {
      const [go] = queue
      if (!go || !mayTake(key)) continue
      drop(key, go)
      moveToEnd(key)
      take(key)
      go()
      return true
    }
    return false
  }

  function drop(key: string, go: () => void): void {
    const queue = queues.get(key)
    queue?.delete(go)
    if (queue?.size === 0) queues.delete(key)
  }

  function moveToEnd(key: string): void {
    const queue = queues.get(key)
    if (!queue) return
    queues.delete(key)
    queues.set(key, queue)
  }

  return {
    async run(key, work, signal) {
      await enter(key, signal)
      try {
        return await work()
      } finally {
        exit(key)
      }
    },
  }
}
