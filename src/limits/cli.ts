// The limits of commands.

import { MB, second } from './units.ts'

export const commandLimits = {
  // Limits of the commands `doctor` and `health`.
  /** Number of bytes that `steno doctor` writes to measure the speed of the disk. */
  diskProbeBytes: 32 * MB,
  /**
   * Minimum speed of the disk, in bytes a second. `steno doctor` reports a slower disk, which would limit concurrent
   * uploads.
   */
  diskBytesPerSecondMin: 10 * MB,
  healthConnectMs: 5 * second,
  healthAnswerMs: 5 * second,

  // Limits of commands such as `transcribe`, `watch` and `upgrade`.
  /**
   * A second signal that arrives within this time after the first one has no effect, because timeout(1) and npm send
   * each signal twice.
   */
  sameSignalMs: 500,
  /** Maximum length of a file name in bytes, on almost all file systems. */
  fileNameBytesMax: 255,
  /** Interval at which a command retries a write to a full non-blocking pipe. */
  terminalRetryMs: 5,
  /** Interval at which the command `watch` reads the folder that it watches. */
  watchEveryMs: 2 * second,
  /** Minimum interval between two progress lines, if the progress is written to a log and not to a terminal. */
  terminalReportEveryMs: 10 * second,
  /** Timeout of the version check that `steno upgrade` runs on a downloaded program. */
  versionAnswerMs: 30 * second,
} as const
