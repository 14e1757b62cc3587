// The limits of model files.

import { MB, minute, second } from './units.ts'

export const modelLimits = {
  /** Timeout of the child process that copies a model with its weights in the compact form (8-bit weights). */
  compactCopyMs: 30 * minute,
  /**
   * The download of a model file fails after this many attempts in a row that do not make the partial file longer. It
   * also fails if the complete file had a wrong hash this many times.
   */
  pullTriesMax: 5,
  /**
   * Pause after a failed attempt that did not make the partial file longer. After each further such attempt in a row,
   * the pause is twice as long.
   */
  pullRetryPauseMs: 1 * second,
  /** Interval at which a process checks whether another process has finished downloading the same model. */
  pullWaitMs: 250,
  /** Maximum length of the header of a safetensors file. A file with a longer header is refused as damaged. */
  tensorHeaderBytesMax: 100 * MB,
  /**
   * Number of bytes of weights that are read between two runs of the garbage collector while weights are converted to 8
   * bits. These runs keep the memory of the process small.
   */
  tensorGarbageBytesMax: 64 * MB,
} as const
