// Divides the search index of each account into parts. FTS5 (SQLite's full-text search) merges all entries of one word
// in one step, which blocks the event loop. Each word of the index begins with the number of its part, so a step merges
// entries of only one part.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'

/**
 * Adds the transcript of a completed job to a part of the account's search index, and returns the part's number. Each
 * part covers a range of job numbers, and two ranges never overlap. The query below finds the part for this job. A new
 * part is created if there is none, or if this part is full and covers only lower job numbers. But if a full part
 * covers a higher job number, it gets the transcript: the range of a new part could overlap with its range.
 */
export function joinPart(db: Db, jobId: string, utterances: number): number {
  const job = db.find<{ accountId: string; seq: number }>(
    'select account_id as accountId, seq from jobs where id = $jobId',
    { jobId },
  )
  if (!job) throw new Error(`there is no job ${jobId}`)
  // Finds the newest part whose range begins at or below the number of this job. If there is none, finds the oldest
  // part, whose range is then extended to this job.
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

/**
 * Subtracts `utterances` from the number of utterances in the part `id` of the search index. Deletes the part if it is
 * then empty.
 */
export function leavePart(db: Db, id: number, utterances: number): void {
  db.run('update search_parts set utterances = utterances - $utterances where id = $id', { id, utterances })
  db.run('delete from search_parts where id = $id and utterances = 0', { id })
}

/**
 * Returns the ids of the parts of an account's search index, newest part first. Leaves out parts whose first job number
 * is above `seq`.
 */
export function partsUpTo(db: Db, accountId: string, seq: number): number[] {
  return db
    .list<{ id: number }>(
      `select id from search_parts where account_id = $accountId and first_seq <= $seq
       order by first_seq desc`,
      { accountId, seq },
    )
    .map(({ id }) => id)
}

/** Returns the form of a word in the search index: the number of the index part, the letter x, and the word. */
export function wordInPart(part: number, word: string): string {
  return `${part}x${word}`
}
