// Describes the progress of a job by an English sentence and a percentage, and stores both in the database.

import { formatSize } from '../base/units.ts'
import type { Db } from '../db/db.ts'
import { unlessRefused } from '../db/refusal.ts'
import { limits } from '../limits.ts'
import type { JobState } from './states.ts'

/**
 * The progress of a job. `percent` is from 0 to 100. It is null during a download, and the percentage in the database
 * then stays as it is.
 */
export type Progress = { sentence: string; percent: number | null }

/** For each state, the sentence about the progress of a job that has just entered this state. */
export const defaultProgress: Record<JobState, string> = {
  created: 'Accepted; the file has not been looked at yet',
  downloading: 'Downloading the file',
  pending: 'Waiting for a free engine',
  processing: 'Transcribing',
  completed: 'Done',
  failed: 'Failed',
}

/** Returns a sentence such as `Downloading, 3.2 MB of 80 MB`. `total` is null if the size of the file is unknown. */
export function downloadProgress(bytes: number, total: number | null): Progress {
  const done = `Downloading, ${formatSize(bytes)}`
  return { sentence: total ? `${done} of ${formatSize(total)}` : done, percent: null }
}

/**
 * Returns the transcribed share of the recording in percent, and a sentence such as `Transcribing 41 % (12:30 of
 * 29:48)`.
 */
export function transcribeProgress(seconds: number, total: number): Progress & { percent: number } {
  const done = Math.min(seconds, total)
  const percent = total > 0 ? Math.floor((100 * done) / total) : 0
  const withHours = total >= 3600
  const sentence = `Transcribing ${percent} % (${clock(done, withHours)} of ${clock(total, withHours)})`
  return { sentence, percent }
}

/**
 * Stores the progress of an unfinished job. Does nothing if the database is locked, or if the disk refuses the write.
 */
export function setProgress(db: Db, id: string, { sentence, percent }: Progress): void {
  const statement = `update jobs set progress = $sentence, progress_percent = coalesce($percent, progress_percent)
    where id = $id and completed_at is null`
  unlessRefused(() => db.run(statement, { id, sentence, percent }))
}

/**
 * Returns a function that calls `tell` at most once in `progressEveryMs` milliseconds. Further calls within this time
 * are ignored.
 */
export function throttled(tell: (progress: Progress) => void): (progress: Progress) => void {
  let toldAt = Number.NEGATIVE_INFINITY
  return progress => {
    const now = performance.now()
    if (now - toldAt < limits.progressEveryMs) return
    toldAt = now
    tell(progress)
  }
}

function clock(seconds: number, withHours: boolean): string {
  const two = (part: number) => String(Math.floor(part)).padStart(2, '0')
  const short = `${two((seconds / 60) % 60)}:${two(seconds % 60)}`
  return withHours ? `${Math.floor(seconds / 3600)}:${short}` : short
}
