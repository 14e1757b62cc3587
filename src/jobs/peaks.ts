// The peaks of the waveform of a transcribed recording. They are deleted with the transcript.

import type { Db } from '../db/db.ts'

/** Stores the peaks of a job. The transcript of the job must be stored before. */
export function storePeaks(db: Db, jobId: string, peaks: Uint8Array): void {
  db.run('insert into peaks (job_id, body) values ($jobId, $peaks)', { jobId, peaks })
}

/** Returns one byte per 50 ms: the highest amplitude, from 0 to 255. Null when the job has no peaks. */
export function findPeaks(db: Db, jobId: string): Uint8Array | null {
  return (
    db.find<{ body: Uint8Array }>('select body from peaks where job_id = $jobId', { jobId })?.body ?? null
  )
}
