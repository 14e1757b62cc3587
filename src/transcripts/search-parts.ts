// Divides the search index of each account into parts. Each word in the index begins with the number of its part, so a
// word has at most as many rows as its part has utterances. FTS5 merges all rows of a word in one step. The size of a
// part therefore limits how long a merge blocks the event loop.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'

/**
 * Adds the transcript of a completed job to a part of its account. Returns the number of the part. A transcript that is
 * newer than all transcripts of a full part begins another part. The ranges of job numbers of two parts never overlap.
 */
export function joinPart(db: Db, jobId: string, utterances: number): number {
  const job = db.find<{ accountId: string; seq: number }>(
    'select account_id as accountId, seq from jobs where id = $jobId',
    { jobId },
  )
  if (!job) throw new Error(`there is no job ${jobId}`)
  // The last part that begins before the job, or else the first part.
  const near = db.find<{ id: number; lastSeq: number; size: number }>(
    `select id, last_seq as lastSeq, utterances as size from search_parts where account_id = $accountId
     order by first_seq <= $seq desc, abs(first_seq - $seq) limit 1`,
    job,
  )
  if (near && (near.size < limits.searchPartUtterances || job.seq < near.lastSeq)) {
    db.run(
      `update search_parts set first_seq = min(first_seq, $seq), last_seq = max(last_seq, $seq),
         utterances = utterances + $utterances where id = $id`,
      { id: near.id, seq: job.seq, utterances },
    )
    return near.id
  }
  const added = db.find<{ id: number }>(
    `insert into search_parts (account_id, first_seq, last_seq, utterances)
     values ($accountId, $seq, $seq, $utterances) returning id`,
    { ...job, utterances },
  )
  if (!added) throw new Error('the part was not inserted')
  return added.id
}

/** Takes utterances of a deleted transcript out of its part. Deletes a part without utterances. */
export function leavePart(db: Db, id: number, utterances: number): void {
  db.run('update search_parts set utterances = utterances - $utterances where id = $id', { id, utterances })
  db.run('delete from search_parts where id = $id and utterances = 0', { id })
}

/** Returns the parts of an account that begin at the job number `seq` or before, the newest part first. */
export function partsUpTo(db: Db, accountId: string, seq: number): number[] {
  return db
    .list<{ id: number }>(
      `select id from search_parts where account_id = $accountId and first_seq <= $seq
       order by first_seq desc`,
      { accountId, seq },
    )
    .map(({ id }) => id)
}

/** Returns a word as the index stores it. The letter x ends the number of the part. */
export function wordInPart(part: number, word: string): string {
  return `${part}x${word}`
}
