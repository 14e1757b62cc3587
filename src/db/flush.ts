// Group commit: transactions that are committed at about the same time share one flush of the write-ahead log. The
// flush runs on the thread pool, so requests do not wait for the disk meanwhile.

import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const dataSync = promisify(fdatasync)

export type Flusher = {
  /** Must be called after each committed transaction. */
  written(): void
  /** Resolves when all transactions that were committed before this call are flushed to the disk. */
  flush(): Promise<void>
  close(): void
}

/**
 * Creates the flusher of a file. At the first flush, the file must exist. After that, it must not be replaced by
 * another file.
 */
export function openFlusher(path: string, sync: (file: number) => Promise<void> = dataSync): Flusher {
  let file: number | null = null
  let writes = 0
  let flushedWrites = 0
  /** The latest flush: the waiting one if there is one, otherwise the running one. */
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
      // The running flush may have begun before the last write, so one more flush follows.
      waiting ??= last.then(flushNow, flushNow)
      last = waiting
      await waiting
    },
    close() {
      if (file !== null) closeSync(file)
    },
  }
}
