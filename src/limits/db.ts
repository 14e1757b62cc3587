// The limits of the database, of a pair of servers (of which one serves and the other one waits), and of drafts (files
// that are still being written).

import { hour, MB, second } from './units.ts'

export const databaseLimits = {
  // Limits of the database.
  /** The free disk space that SQLite needs for a new database with its log and its shared memory, rounded up. */
  newDatabaseBytes: 1 * MB,
  /** SQLite's busy timeout for commands: the maximum time for which a command waits while the server writes. */
  databaseBusyMs: 10 * second,
  /**
   * SQLite's busy timeout for the server. It is short, because the server answers no request during the wait. A write
   * during an upload is retried for `databaseBusyMs`.
   */
  serverBusyMs: second / 4,
  busyRetryAfterMs: 1 * second,
  /** Time for which /v1/ready and /metrics reuse the result of the last test write to the database. */
  readyEveryMs: 1 * second,
  /**
   * Maximum time of the test write for /v1/ready and /metrics. After this time, the database counts as not writable.
   */
  readyWaitMs: 5 * second,

  // Limits of a pair of servers, of which one serves and the other one waits.
  /**
   * The lease is a file that shows which server of a pair serves. The timeout of the lease, divided by this number, is
   * the interval at which the serving server renews the lease, and at which the waiting server reads it.
   */
  standbyLooks: 10,
  /** Number of copies of the database in the shared folder of a pair of servers. Older copies are deleted. */
  standbyCopies: 3,

  // Limits of drafts, which are files that are still being written.
  /** A draft (a file or folder that is still being written) is removed if it was not changed for this time. */
  draftKeptMs: 1 * hour,
} as const
