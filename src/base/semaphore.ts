// A fair semaphore: work runs only while it holds one of a limited number of slots. A key is the name of a caller, such
// as an account id. Keys take turns. A key that holds a slot cannot take the last free slot, which another key may
// need.

import { Queues } from './turn-queues.ts'

export type Semaphore = {
  /**
   * Calls `work` when `key` gets a slot, and returns its result. Rejects with the signal's reason if `signal` is
   * aborted before that.
   */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Gives `key` no further slot until `over` resolves. The key keeps the slots that it already holds. */
  rest(key: string, over: Promise<void>): Promise<void>
}

/**
 * Limits the slots of a key while few slots are free. A key that holds a slot may take another one only if, after that,
 * it holds at most `heldPerFree` times as many slots as are still free. For example, one key can take 12 of 16 slots,
 * because 4 are then free. A second key can take 3 of these 4. Running work is never interrupted, so slots must stay
 * free for the keys that come later.
 */
const heldPerFree = 3

/** A key never holds more than `heldMax` slots. */
export function openSemaphore(slots: number, heldMax: number = slots): Semaphore {
  let free = slots
  const held = new Map<string, number>()
  /**
   * The keys that get no further slot for some time, for example after failed work. Each call of `rest` blocks a key
   * until the promise `over` of this call resolves. The map has the number of these calls for each blocked key.
   */
  const rests = new Map<string, number>()
  const queues = new Queues()

  /** Returns true if the caller with the name `key` may take a slot now. */
  function mayTake(key: string): boolean {
    const holds = held.get(key) ?? 0
    if (holds >= heldMax) return false
    return free > 0 && !rests.has(key) && (holds === 0 || holds + 1 <= heldPerFree * (free - 1))
  }

  function take(key: string): void {
    free -= 1
    add(held, key, 1)
  }

  function enter(key: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (mayTake(key)) {
      take(key)
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        queues.drop(key, go)
        reject(signal?.reason)
      }
      const go = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      queues.add(key, go)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  function exit(key: string): void {
    free += 1
    add(held, key, -1)
    serve()
  }

  /** Gives free slots to waiting work and starts it, until no waiting work may take a slot. */
  function serve(): void {
    for (let next = queues.takeNext(mayTake); next; next = queues.takeNext(mayTake)) {
      take(next.key)
      next.go()
    }
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
    async rest(key, over) {
      add(rests, key, 1)
      await over
      add(rests, key, -1)
      serve()
    },
  }
}

/** Adds `change` to the count of a key. Removes the key from `counts` if its count becomes 0. */
function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
