// So many at once, the rest wait in line.

export type Slots = {
  /** Runs the work when a slot is free. A signal that fires while it waits rejects with its reason. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

export function openSlots(count: number): Slots {
  let free = count
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
