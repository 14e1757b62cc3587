// The limits of the database, of a pair of servers (one serves, and the other one is its standby), and of drafts (files
// that are still being written).

import { hour, MB, second } from './units.ts'

export const databaseLimits = {
  // Limits of the database.
  /** The free space that SQLite needs on the disk for a new database with its log and its shared memory, rounded up. */
  newDatabaseBytes: 1 * MB,
  /**
   * SQLite's busy timeout for commands: the maximum time for which a command waits while the server writes to the
   * database.
   */
  databaseBusyMs: 10 * second,
  /**
   * SQLite's busy timeout for the server. This timeout is short, because the server answers no request while it waits
   * for the database. A write to the database during an upload is retried for `databaseBusyMs`.
   */
  serverBusyMs: second / 4,
  busyRetryAfterMs: 1 * second,
  /** Time for which /v1/ready and /metrics reuse the result of the last test write to the database. */
  readyEveryMs: 1 * second,
  /**
   * Maximum time of the test write for /v1/ready and /metrics. If it takes longer, the database counts as not writable.
   * Prometheus waits only 10 s for /metrics.
   */
  readyWaitMs: 5 * second,

  // Limits of a pair of servers, of which one serves and the other one waits.
  /**
   * The lease is a file that shows which server of a pair serves. The serving server renews the lease this many times
   * within the timeout of the lease. The waiting server reads the lease at the same interval.
   */
  standbyLooks: 10,
  /**
   * Number of copies of the database that are kept in the shared folder of a server and its standby. Older copies are
   * deleted.
   */
  standbyCopies: 3,

  // Limits of drafts, which are files that are still being written.
  /**
   * A draft is a file or folder that is still being written. A draft that was not changed for this time is removed,
   * because only a killed process leaves such a draft.
   */
  draftKeptMs: 1 * hour,
} as const
