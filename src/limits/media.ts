// The limits of reading media files.

import { MB, minute, second } from './units.ts'

export const mediaLimits = {
  mediaRedirectsMax: 5,
  /**
   * Timeout of the inspection of a media file. It is long, because an inspection gets little CPU time while an engine
   * is busy.
   */
  mediaInspectMs: 25 * minute,
  /** A child process that decodes a media file is killed if it sends no message for this time. */
  mediaStallMs: 2 * minute,
  /** Interval at which the server retries to start the media program while the system lacks a resource. */
  mediaStartRetryMs: second / 4,
  /** The nice value of an inspection. It is the lowest CPU priority, so an inspection hardly slows down an engine. */
  mediaInspectNice: 19,
  /** Maximum CPU time to open a media file. Without this limit, a file with 100,000 tags would need minutes. */
  mediaOpenCpuMs: 20 * second,
  /**
   * Maximum CPU time of a whole inspection. Ten hours of audio need up to 30 s if the lengths of its packets are wrong.
   */
  mediaInspectCpuMs: 2 * minute,
  mediaDecodeCpuMs: 30 * minute,
  /**
   * Maximum number of packets that cannot be decoded in the first half minute of sound. A file with more of them is
   * refused.
   */
  mediaDamagedPacketsMax: 2000,
  /** Memory that a media child process may allocate. FFmpeg's index of a film of ten hours takes about 150 MB. */
  mediaMemoryBytes: 640 * MB,
  /**
   * Number of bytes at the start of a file that are searched for streams. In a recorded broadcast, a stream may begin
   * late.
   */
  mediaProbeBytes: 32 * MB,
  /**
   * Interval of the heartbeat of a child process that decodes a media file. Any other message replaces the heartbeat.
   */
  mediaAliveEveryMs: 1 * second,
  /**
   * A job fails if the decoded sound is longer than the maximum duration plus this margin. Only a file with wrong
   * timestamps can have such sound. If the timestamps are right, a file that is too long is refused before its sound is
   * decoded.
   */
  mediaMarginMs: 1 * minute,
  /**
   * The duration of the decoded sound may differ from the duration that the inspection measured. This is the first part
   * of the tolerance for the difference, and `mediaToleranceShare` is the second. In 450 damaged files of two minutes,
   * the sound was at most 4 s longer and at most 12 s shorter than measured.
   */
  mediaToleranceMs: 10 * second,
  /**
   * The duration of the decoded sound may differ from the duration that the inspection measured. The tolerance for the
   * difference is `mediaToleranceMs` plus this share of the measured duration.
   */
  mediaToleranceShare: 0.05,
} as const
