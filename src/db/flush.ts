// Group commit: transactions that were committed at about the same time share one flush of the write-ahead log. The
// flush runs on the thread pool, so that no other request waits for the disk.

import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const dataSync = promisify(fdatasync)

export type Flusher = {
  /** Notes that something was written. */
  written(): void
  /** Resolves when all that was written before this call is on the disk. */
  flush(): Promise<void>
  close(): void
}

/** The file must be there at the first flush, and stay the same file. */
export function openFlusher(path: string, sync: (file: number) => Promise<void> = dataSync): Flusher {
  let file: number | null = null
  let writes = 0
  let flushedWrites = 0
  /** The flush that began last, or that waits for it. */
  let last: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | null = null

  async function flushNow(): Promise<void> {
    waiting = null
    const before = writes
    file ??= openSync(path, 'r')
    await sync(file)
    flushedWrites = before
  }

  return {
    written() {
      writes += 1
    },
    async flush() {
      if (flushedWrites === writes) return
      // A flush under way may have begun before the last write.
      waiting ??= last.then(flushNow, flushNow)
      last = waiting
      await waiting
    },
    close() {
      if (file !== null) closeSync(file)
    },
  }
}
