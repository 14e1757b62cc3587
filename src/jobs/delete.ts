// Deletes ended jobs. The row of a deleted job stays in the database for some time.

import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { limits } from '../limits.ts'
import { deleteTranscript } from '../transcripts/delete-transcript.ts'
import { purgeUpload } from '../uploads/upload.ts'
import { findJob, type Job } from './job.ts'
import { isTerminal } from './states.ts'

/**
 * Deletes the transcript, the prompt, the vocabulary and the metadata of an ended job, and marks the job as deleted.
 * Returns null if the job was already deleted.
 */
export function deleteJob(db: Db, accountId: string, id: string): Job | null {
  return db.tx(() => {
    const job = findJob(db, id)
    if (!job || job.accountId !== accountId) throw new ApiError('TRANSCRIPTION_NOT_FOUND')
    if (job.deletedAt !== null) return null
    if (!isTerminal(job.state)) throw new ApiError('CONFLICT', 'Cancel the transcription before deleting it.')
    deleteTranscript(db, job)
    db.run(
      'update jobs set deleted_at = $now, prompt = null, vocabulary = null, metadata = null where id = $id',
      {
        id,
        now: db.now(),
      },
    )
    return job
  })
}

/**
 * Removes a limited number of jobs that were deleted at least `keptMs` ago, and their uploads, from the database. A job
 * stays until its media and all its utterances are removed, and its events are sent or given up. Without the row of the
 * job, its media file would not be found and removed later.
 */
export function purgeJobs(db: Db, { keptMs }: { keptMs: number }): void {
  db.tx(() => {
    const purged = db.list<{ uploadId: string | null }>(
      `delete from jobs where seq in (
         select seq from jobs where deleted_at is not null and deleted_at <= $deletedBefore
           and media_kept = 0 and not exists (select 1 from transcripts where job_id = jobs.id)
           and not exists (select 1 from webhook_events where job_id = jobs.id and sent_at is null) limit $limit)
       returning upload_id as uploadId`,
      { deletedBefore: db.now() - keptMs, limit: limits.purgedJobsMax },
    )
    for (const { uploadId } of purged) if (uploadId) purgeUpload(db, uploadId)
  })
}
