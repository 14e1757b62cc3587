// The peaks of a transcribed recording: the highest amplitudes, from which the web app draws the waveform.

import type { Db } from '../db/db.ts'

/** Stores the peaks of a job's recording. The transcript of the job must already be in the database. */
export function storePeaks(db: Db, jobId: string, peaks: Uint8Array): void {
  db.run('insert into peaks (job_id, body) values ($jobId, $peaks)', { jobId, peaks })
}

/**
 * Returns one byte for each 50 ms of the recording: the highest amplitude, from 0 to 255. Returns null if the job has
 * no peaks.
 */
export function findPeaks(db: Db, jobId: string): Uint8Array | null {
  return (
    db.find<{ body: Uint8Array }>('select body from peaks where job_id = $jobId', { jobId })?.body ?? null
  )
}
