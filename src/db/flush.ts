// Group commit: transactions committed at about the same time share one flush of the write-ahead log. The flush runs on
// the thread pool, and does not block the server.

import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const dataSync = promisify(fdatasync)

export type Flusher = {
  /** Must be called for each write to the file, without an `await` between the write and the call. */
  written(): void
  /**
   * Resolves when all writes before this call are flushed to the disk. After a failed flush, always rejects with its
   * error. The operating system may have discarded the unwritten content, and a second flush could then succeed without
   * writing it.
   */
  flush(): Promise<void>
  close(): void
}

/**
 * Creates the flusher of the file at `path`. The file must exist at the first flush, and must not be replaced before
 * `close`. `onFailed` is called once, with the error of the first failed flush.
 */
export function openFlusher(
  path: string,
  {
    sync = dataSync,
    onFailed = () => {},
  }: { sync?: (file: number) => Promise<void>; onFailed?: (error: unknown) => void } = {},
): Flusher {
  let failure: { error: unknown } | null = null
  let isClosed = false
  let file: number | null = null
  let writes = 0
  let flushedWrites = 0
  /** The latest flush, which may be waiting, running or ended. */
  let last: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | null = null

  async function flushNow(): Promise<void> {
    waiting = null
    if (failure) throw failure.error
    const before = writes
    file ??= openSync(path, 'r')
    await sync(file).catch(error => {
      failure = { error }
      // If the file is closed during a flush, the flush may fail. This error is not reported.
      if (!isClosed) onFailed(error)
      throw error
    })
    flushedWrites = before
  }

  return {
    written() {
      writes += 1
    },
    async flush() {
      if (flushedWrites === writes) return
      // A running flush may have begun before the last write, so one more flush must follow.
      waiting ??= last.then(flushNow, flushNow)
      last = waiting
      await waiting
    },
    close() {
      isClosed = true
      if (file !== null) closeSync(file)
    },
  }
}
