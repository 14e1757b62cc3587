// The limits of uploads. Also the number of downloaded bytes after which the disk quota of the account is checked,
// because uploads and downloads count towards one quota.

import { MB, minute, second } from './units.ts'

export const uploadLimits = {
  uploadBufferBytes: 1 * MB,
  /** Maximum number of concurrent uploads of one account. Each upload needs three file descriptors. */
  uploadsInFlightMax: 256,
  /**
   * An upload stays valid for at least this time after the end of its PUT, or for STENO_UPLOAD_TTL if that is shorter.
   */
  uploadKeptMs: 15 * minute,
  uploadRetryAfterMs: 1 * second,
  /** Number of received bytes after which the free disk space and the account's quota are checked again. */
  uploadCheckBytes: 16 * MB,
  /**
   * Maximum number of expired uploads whose files one sweep (a periodic task) removes. Each file is open during its
   * removal and is closed outside the event loop, because freeing the space of a large file takes long. Until then,
   * each file needs a file descriptor.
   */
  uploadRemovalsMax: 200,
  /** Maximum number of expired uploads whose rows one sweep (a periodic task) removes. */
  purgedUploadsMax: 1000,
  /** Number of downloaded bytes after which the quota of the account is checked again. */
  downloadCheckBytes: 1 * MB,
} as const
