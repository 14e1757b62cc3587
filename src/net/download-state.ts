// The options and the state of a download. All its attempts share them.

import type { ConnectOptions } from './connect.ts'

export type DownloadOptions = ConnectOptions & {
  bytesMax: number
  signal: AbortSignal
  /** An attempt has stalled if fewer than `limits.downloadStallBytesMin` bytes arrive in this time, in milliseconds. */
  stallMs?: number
  /** A monotonic clock: returns the time in milliseconds. Only tests replace it. */
  now?: () => number
  /**
   * Called after each write with the number of bytes in the file. `total` is the size of the complete file in bytes, or
   * null if it is unknown.
   */
  onProgress?: (bytes: number, total: number | null) => void
  /** Waits for `ms` milliseconds before the next attempt. Rejects if the signal is aborted. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** The state of a download. */
export type Progress = {
  bytes: number
  /** The size of the complete file in bytes. Null if the size is not known. */
  total: number | null
  /**
   * The ETag or the Last-Modified header of the file. The next attempt continues the file only if the server sends the
   * same value, or none. If `version` is null, the next attempt starts at the first byte.
   */
  version: string | null
  /** True after the first successful response that began at the first byte of the file. */
  begun: boolean
  /** True if the last response had a compressed body. The next attempt then starts at the first byte. */
  compressed: boolean
  /**
   * The number of bytes that all attempts together have written, and the time in milliseconds in which they have read
   * and written them.
   */
  receivedBytes: number
  receivedMs: number
}
