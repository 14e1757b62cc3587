// Deletes transcripts from the database and from the search index, in small pieces.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { leavePart } from './search-parts.ts'
import type { IndexedJob } from './utterance-id.ts'
import { utterancesMax } from './utterance-id.ts'

/**
 * A job whose stored utterances must be removed. `part` is the number of the part of the search index that contains
 * these utterances. `part` is null if the job was not completed, because its utterances are then not in the index.
 */
type DeletedJob = IndexedJob & { part: number | null }

/**
 * Deletes a transcript: its head (the fields without the utterances), and a limited number of its utterances. Callers
 * cannot read a transcript without a head. The other utterances are removed later, by the function `writeIndexPiece`,
 * which also updates the search index.
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
 * Finds an ended job whose stored utterances must be removed, because the transcript of the job has no head (the fields
 * without the utterances). The head is missing if the transcript was deleted, or if the job ended before its whole
 * transcript was stored. Returns null if there is no such job. If `jobId` is null, all jobs are searched.
 */
export function findDeleted(db: Db, jobId: string | null = null): DeletedJob | null {
  return db.find<DeletedJob>(
    // The column `head` is null in only a few rows of `transcripts`, such as the rows of deleted transcripts. An index
    // finds these rows. The plus sign prevents SQLite from using the index of `completed_at` instead. With that index,
    // SQLite would read all ended jobs.
    `select jobs.id, seq, part from transcripts join jobs on jobs.id = job_id
     where head is null and +completed_at is not null and ($jobId is null or job_id = $jobId) limit 1`,
    { jobId },
  )
}

/**
 * Removes a piece of a transcript: at most `removedUtterancesPerPiece` utterances, from the database and from the
 * search index. With the last piece, also removes the row of the transcript, and adds the job to the table `unpurged`.
 * The search index only marks the removed utterances as deleted, and so still contains their words. A later purge
 * removes these words.
 */
export function removePiece(db: Db, { id: jobId, seq, part }: DeletedJob): void {
  const ids = db.list<{ id: number }>(
    `delete from utterances where id in (
       select id from utterances where id >= $first and id < $end order by id limit $limit
     ) returning id`,
    {
      first: seq * utterancesMax,
      end: (seq + 1) * utterancesMax,
      limit: limits.removedUtterancesPerPiece,
    },
  )
  for (const { id } of ids) db.run('delete from search where rowid = $id', { id })
  if (part !== null) leavePart(db, part, ids.length)
  if (ids.length === limits.removedUtterancesPerPiece) return
  db.run('delete from transcripts where job_id = $jobId', { jobId })
  db.run('insert into unpurged (seq) values ($seq) on conflict do nothing', { seq })
}
