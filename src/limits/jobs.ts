// The limits of jobs.

import { minute, second } from './units.ts'

export const jobLimits = {
  /** Maximum number of concurrent downloads. Further jobs wait. */
  downloadsMax: 32,
  /** Maximum number of concurrent inspections of media files. Further jobs wait. */
  inspectionsMax: 4,
  /**
   * Minimum and maximum of the pause after a failed inspection of a media file. During the pause, no inspection for the
   * same account starts. A failed inspection is not charged, so an account could otherwise keep the server busy for
   * free.
   */
  inspectionRestMs: { min: second / 2, max: 1 * minute },
  /**
   * Maximum number of recognitions that are started without a return to the event loop. Starting 500 jobs takes about
   * 0.3 s.
   */
  recognitionStartsMax: 20,
  /** Minimum interval between two progress updates of a job. */
  progressEveryMs: second / 2,
  /**
   * Minimum interval between two reports of a job's state or progress to a waiting request, such as an event stream.
   * Utterances and the end of the job are reported at once.
   */
  liveEveryMs: 1 * second,
  /**
   * Number of job listeners that a refresh calls in one turn of the event loop. A refresh (`refresh` in jobs/live.ts)
   * reads the followed jobs from the database again and calls all their listeners. Most listeners belong to event
   * streams. A stream checks its credential again at each call, so 2,000 streams in one turn take 0.14 s.
   */
  refreshCallsPerTurn: 100,
  /** Interval of the comments that keep an event stream open while it has no events. */
  streamAliveMs: 15 * second,
  /** Time after which a client should open an interrupted event stream again. */
  streamRetryMs: 2 * second,
  /** Time, in seconds, for which a request may choose to wait for the end of a job. */
  waitSeconds: { default: 0, min: 0, max: 60 },
  /**
   * Maximum number of jobs that one sweep (a periodic task) ends as failed because their timeout has passed. The limit
   * applies to each job state, such as `processing`, on its own. Ending 100 jobs takes about 40 ms.
   */
  stuckJobsMax: 100,
  /**
   * Maximum number of ended jobs, and of deleted jobs, whose media files one sweep (a periodic task) removes. Each file
   * needs a file descriptor until its space is freed.
   */
  mediaRemovalsMax: 200,
  /** Maximum number of old jobs that one sweep (a periodic task) deletes. */
  jobRemovalsMax: 100,
  /** Maximum number of rows that one transaction deletes while an account is erased. */
  erasedRowsPerPiece: 1000,
  /**
   * Maximum number of deleted jobs whose rows one sweep (a periodic task) removes. Removing 1,000 jobs takes about 75
   * ms.
   */
  purgedJobsMax: 1000,
} as const
