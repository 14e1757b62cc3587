// Deletes transcripts from the database and from the search index, in small pieces.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { leavePart } from './search-parts.ts'
import { type IndexedJob, rowsOf } from './utterance-id.ts'

/**
 * A job whose stored utterances must be removed. `part` is the part of the search index that contains them. `part` is
 * null if the job was not completed: its utterances are then not in the index.
 */
type DeletedJob = IndexedJob & { part: number | null }

/**
 * Deletes the head of a transcript (all fields except the utterances), and a limited number of utterances. Callers can
 * no longer read the transcript. `writeIndexPiece` removes the remaining utterances later.
 */
export function deleteTranscript(db: Db, { id }: IndexedJob): void {
  db.run(
    'update transcripts set head = null, original_head = null, speaker_names = null where job_id = $id',
    {
      id,
    },
  )
  const deleted = findDeleted(db, id)
  if (deleted) removePiece(db, deleted)
}

/**
 * Finds an ended job whose transcript must be removed from the database. The column `head` of its row is null. The head
 * is all fields of a transcript except the utterances. `deleteTranscript` sets the head to null, and a transcript that
 * was never stored completely has none. Returns null if there is no such job. If `jobId` is null, searches all jobs.
 */
export function findDeleted(db: Db, jobId: string | null = null): DeletedJob | null {
  return db.find<DeletedJob>(
    // Few rows of `transcripts` have no `head`, and an index finds them. The plus sign prevents SQLite from using the
    // index of `completed_at`. With that index, SQLite would read all ended jobs.
    `select jobs.id, seq, part from transcripts join jobs on jobs.id = job_id
     where head is null and +completed_at is not null and ($jobId is null or job_id = $jobId) limit 1`,
    { jobId },
  )
}

/**
 * Removes at most `removedUtterancesPerPiece` utterances of a job from the database and from the search index. A call
 * that removes fewer, because no more are left, also removes the row of the transcript. It then adds the job to the
 * table `unpurged`, because the file of the index may contain the words of the transcript until a purge.
 */
export function removePiece(db: Db, { id: jobId, seq, part }: DeletedJob): void {
  const ids = db.list<{ id: number }>(
    `delete from utterances where id in (
       select id from utterances where id between $first and $last order by id limit $limit
     ) returning id`,
    { ...rowsOf({ seq }), limit: limits.removedUtterancesPerPiece },
  )
  for (const { id } of ids) db.run('delete from search where rowid = $id', { id })
  if (part !== null) leavePart(db, part, ids.length)
  if (ids.length === limits.removedUtterancesPerPiece) return
  db.run('delete from transcripts where job_id = $jobId', { jobId })
  db.run('insert into unpurged (seq) values ($seq) on conflict do nothing', { seq })
}
