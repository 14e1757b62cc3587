// Divides the search index of each account into parts. In the index, each word begins with the number of its part, so
// a word has at most as many rows as the part has utterances. FTS5 merges all rows of a word in one step, which
// blocks the event loop. The size of a part limits this time.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'

/**
 * Adds the transcript of a completed job to a part of its account, and returns the number of the part. If the last
 * part is full, a newer transcript starts another part. Each part covers a range of job numbers, and these ranges
 * never overlap.
 */
export function joinPart(db: Db, jobId: string, utterances: number): number {
  const job = db.find<{ accountId: string; seq: number }>(
    'select account_id as accountId, seq from jobs where id = $jobId',
    { jobId },
  )
  if (!job) throw new Error(`there is no job ${jobId}`)
  // Finds the last part that begins before the job, or the first part if there is none.
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

/** Subtracts the utterances of a deleted transcript from its part. Deletes the part if it has none left. */
export function leavePart(db: Db, id: number, utterances: number): void {
  db.run('update search_parts set utterances = utterances - $utterances where id = $id', { id, utterances })
  db.run('delete from search_parts where id = $id and utterances = 0', { id })
}

/** Returns the parts of an account that begin at the job number `seq` or earlier, newest first. */
export function partsUpTo(db: Db, accountId: string, seq: number): number[] {
  return db
    .list<{ id: number }>(
      `select id from search_parts where account_id = $accountId and first_seq <= $seq
       order by first_seq desc`,
      { accountId, seq },
    )
    .map(({ id }) => id)
}

/** Returns the word in the form of the index: the number of the part, the letter x, and the word. */
export function wordInPart(part: number, word: string): string {
  return `${part}x${word}`
}
