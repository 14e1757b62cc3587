// A semaphore with a FIFO queue.

export type Semaphore = {
  /** Runs the work when a slot is free. Rejects with the signal's reason when it is aborted while waiting. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

export function openSemaphore(slots: number): Semaphore {
  let free = slots
  const waiting = new Set<() => void>()

  function enter(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (free > 0) {
      free -= 1
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(go)
        reject(signal?.reason)
      }
      const go = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      waiting.add(go)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  function exit(): void {
    const [next] = waiting
    if (!next) {
      free += 1
      return
    }
    waiting.delete(next)
    next()
  }

  return {
    async run(work, signal) {
      await enter(signal)
      try {
        return await work()
      } finally {
        exit()
      }
    },
  }
}
