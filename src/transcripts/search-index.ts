// Keeps the search index in step with the utterances. The index has one row for each utterance, with the
// account as a second column. It is written in pieces, because a write blocks the event loop.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { indexedText } from './search-words.ts'
import { utteranceId, utterancesMax } from './store.ts'
import type { Utterance } from './transcript.ts'

/** A job as the index sees it. */
export type IndexedJob = { id: string; seq: number; accountId: string }

type DueJob = IndexedJob & { unindexed: number; isDeleted: number }

/** Returns the word that stands for an account in the index. */
export function accountWord(accountId: string): string {
  return accountId.replaceAll('-', '')
}

/**
 * Writes one piece of the index. Deleted transcripts come first, then the newest transcript. Returns false
 * when the index is complete.
 */
export function writeIndexPiece(db: Db): boolean {
  return db.tx(() => {
    const due = findDue(db)
    if (due?.isDeleted) removePiece(db, due)
    else if (due) addPiece(db, due)
    return due !== null
  })
}

/**
 * Merges a piece of the index, so that a search reads few segments. Returns false when there is nothing to
 * merge.
 */
export function mergeIndexPiece(db: Db): boolean {
  return db.tx(() => {
    const before = totalChanges(db)
    db.run("insert into search (search, rank) values ('merge', $pages)", {
      pages: limits.mergedPagesPerPiece,
    })
    // FTS5 documents this test: a merge without work counts as one change.
    return totalChanges(db) - before >= 2
  })
}

/**
 * Deletes a transcript. Its first utterances leave the database in this transaction; `writeIndexPiece`
 * removes the others. No reader sees them in between.
 */
export function deleteTranscript(db: Db, job: IndexedJob): void {
  db.run(`update transcripts set head = null, original_head = null where job_id = $id and head is not null`, {
    id: job.id,
  })
  const due = findDue(db, job.id)
  if (due) removePiece(db, due)
}

/** Replaces the text of one utterance in the index. */
export function replaceInIndex(
  db: Db,
  { id: jobId, seq, accountId }: IndexedJob,
  index: number,
  { before, after }: { before: string; after: string },
): void {
  const row = db.find<{ unindexed: number }>('select unindexed from transcripts where job_id = $jobId', {
    jobId,
  })
  if (!row || index < row.unindexed) return
  const id = utteranceId(seq, index)
  removeRow(db, accountId, id, before)
  addRow(db, accountId, id, after)
}

function findDue(db: Db, jobId: string | null = null): DueJob | null {
  return db.find<DueJob>(
    `select jobs.id, seq, account_id as accountId, unindexed, head is null as isDeleted
     from transcripts join jobs on jobs.id = job_id
     where (unindexed > 0 or head is null) and ($jobId is null or job_id = $jobId)
     order by head is null desc, job_id desc limit 1`,
    { jobId },
  )
}

/**
 * Adds the last utterances of a transcript that are not in the index yet. FTS5 is fast when row ids increase,
 * and they increase towards the first utterance.
 */
function addPiece(db: Db, { id: jobId, seq, accountId, unindexed }: DueJob): void {
  let words = 0
  let left = unindexed
  while (left > 0 && words < limits.indexedWordsPerPiece) {
    left -= 1
    const id = utteranceId(seq, left)
    words += addRow(db, accountId, id, textOf(db, id))
  }
  db.run('update transcripts set unindexed = $left where job_id = $jobId', { jobId, left })
}

/** Removes the last utterances of a deleted transcript, and at the end the row of the transcript. */
function removePiece(db: Db, { id: jobId, seq, accountId, unindexed }: DueJob): void {
  const highestIndexed = utteranceId(seq, unindexed)
  const utterances = db.list<{ id: number; text: string }>(
    `select id, body ->> '$.text' as text from utterances where id >= $first and id < $end
     order by id limit $limit`,
    {
      first: seq * utterancesMax,
      end: (seq + 1) * utterancesMax,
      limit: limits.removedWordsPerPiece,
    },
  )
  let words = 0
  for (const { id, text } of utterances) {
    if (words >= limits.removedWordsPerPiece) return
    if (id <= highestIndexed) words += removeRow(db, accountId, id, text)
    db.run('delete from utterances where id = $id', { id })
  }
  if (utterances.length < limits.removedWordsPerPiece)
    db.run('delete from transcripts where job_id = $jobId', { jobId })
}

function textOf(db: Db, id: number): string {
  const row = db.find<{ body: string }>('select body from utterances where id = $id', { id })
  return row ? (JSON.parse(row.body) as Utterance).text : ''
}

/** Adds an utterance to the index. Returns the number of words that FTS5 had to write. */
function addRow(db: Db, accountId: string, id: number, text: string): number {
  const words = indexedText(text)
  db.run('insert into search (rowid, account, text) values ($id, $account, $words)', {
    id,
    account: accountWord(accountId),
    words,
  })
  return wordsIn(words)
}

/**
 * Removes an utterance from the index. FTS5 needs exactly the text that was added. Returns the number of
 * words that FTS5 had to remove.
 */
function removeRow(db: Db, accountId: string, id: number, text: string): number {
  const words = indexedText(text)
  db.run("insert into search (search, rowid, account, text) values ('delete', $id, $account, $words)", {
    id,
    account: accountWord(accountId),
    words,
  })
  return wordsIn(words)
}

function totalChanges(db: Db): number {
  return db.find<{ changes: number }>('select total_changes() as changes')?.changes ?? 0
}

/** Returns the number of words of a row, with the word of the account. */
function wordsIn(indexedText: string): number {
  return indexedText.split(' ').length + 1
}
