// The options and the state of a download. All attempts of the download use the same options and the same state.

import type { ConnectOptions } from './connect.ts'

export type DownloadOptions = ConnectOptions & {
  bytesMax: number
  signal: AbortSignal
  /**
   * A length of time, in milliseconds. If fewer than `limits.downloadStallBytesMin` bytes arrive in this time, while
   * the program waits for bytes, the attempt to download has stalled.
   */
  stallMs?: number
  /** A monotonic clock: returns the time in milliseconds. Only tests replace it. */
  now?: () => number
  /**
   * Called after each write to the file. `bytes` is the number of bytes in the file. `total` is the size of the
   * complete file in bytes, or null if this size is not known.
   */
  onProgress?: (bytes: number, total: number | null) => void
  /** Waits for `ms` milliseconds before the next attempt. Rejects if the signal is aborted during this time. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** The state of a download. All attempts of the download use the same state. */
export type Progress = {
  bytes: number
  /** The size of the complete file in bytes. Null if the size is not known. */
  total: number | null
  /**
   * The ETag or the Last-Modified header of the file. The next attempt continues the download only if the server sends
   * no other value. Null if no such value is known, for example because the response has neither of these
   * headers. The next attempt then starts again at the first byte.
   */
  version: string | null
  /** True after the first successful response that began at the first byte of the file. */
  begun: boolean
  /**
   * `receivedBytes` is the number of bytes that all attempts together have written to the file. `receivedMs` is the
   * time for which all attempts together have read, in milliseconds.
   */
  receivedBytes: number
  receivedMs: number
}
