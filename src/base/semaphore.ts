// A fair semaphore: keys take turns, and no key may hold so many slots that the next key has to wait.

export type Semaphore = {
  /** Runs the work when a slot is free. Rejects with the reason of the signal when it is aborted while waiting. */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/**
 * The maximum ratio of slots that one key holds to slots that stay free. A single key gets three quarters of all slots,
 * a second one three quarters of the remaining slots, and so on. Running work is never interrupted, so the free slots
 * are the reserve for the next key.
 */
const heldPerFree = 3

type Waiting = Set<() => void>

export function openSemaphore(slots: number): Semaphore {
  let free = slots
  const held = new Map<string, number>()
  /** Keys with waiting work, in order of their turn. The key that was served last is at the end. */
  const queues = new Map<string, Waiting>()

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

  /** Assigns a slot to the first key in the queue that may take one. Returns false when there is none. */
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
