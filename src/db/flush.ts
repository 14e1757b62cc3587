// Group commit: transactions that are committed at about the same time share one flush of the write-ahead log. The
// flush runs on the thread pool, so the server can answer requests during the flush.

import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const dataSync = promisify(fdatasync)

export type Flusher = {
  /** Must be called after each write to the file that this flusher flushes. */
  written(): void
  /** Resolves when all writes before this call are flushed to the disk. */
  flush(): Promise<void>
  close(): void
}

/**
 * Creates the flusher of the file at `path`. The first flush opens the file, and the file stays open until `close`. So
 * the file must exist at the first flush, and must not be replaced by another file later.
 */
export function openFlusher(path: string, sync: (file: number) => Promise<void> = dataSync): Flusher {
  let file: number | null = null
  let writes = 0
  let flushedWrites = 0
  /**
   * The latest flush: the waiting flush if there is one, otherwise the flush that is running or was the last to end.
   */
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
      // A flush that is running may have begun before the last write. So one more flush must follow the running flush.
      waiting ??= last.then(flushNow, flushNow)
      last = waiting
      await waiting
    },
    close() {
      if (file !== null) closeSync(file)
    },
  }
}
