// Keeps the search index in step with the utterances. The index has one row for each utterance, with the
// account as a second column. It is written in pieces, because a write blocks the event loop.
//
// A deleted row is only marked. Its words leave the file when a merge rewrites the segment that has them. A
// purge therefore merges all segments to one. The table `unpurged` shows that a purge is needed.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { indexedText } from './search-words.ts'
import { utteranceId, utterancesMax } from './store.ts'
import type { Utterance } from './transcript.ts'

/** A job as the index sees it. */
export type IndexedJob = { id: string; seq: number; accountId: string }

type DueJob = IndexedJob & { unindexed: number }

/** Returns the word that stands for an account in the index. */
export function accountWord(accountId: string): string {
  return accountId.replaceAll('-', '')
}

/**
 * Removes one piece of a deleted transcript, or adds one piece of the newest transcript that is not complete
 * in the index. Returns false when there is nothing to do.
 */
export function writeIndexPiece(db: Db): boolean {
  return db.tx(() => {
    const deleted = findDeleted(db)
    if (deleted) removePiece(db, deleted)
    const due = deleted ? null : findDue(db)
    if (due) addPiece(db, due)
    return deleted !== null || due !== null
  })
}

/**
 * Merges a piece of the index, so that a search reads few segments. Returns false when there is nothing to
 * merge.
 */
export function mergeIndexPiece(db: Db): boolean {
  return merge(db, limits.mergedPagesPerPiece)
}

/** Returns true if the words of a deleted transcript may still be in the index. */
export function needsPurge(db: Db): boolean {
  return db.find('select 1 from unpurged limit 1') !== null
}

/**
 * Removes the words of deleted transcripts from the index, piece by piece: a caller goes through the pieces.
 * Transcripts that are deleted in the meantime need another purge.
 */
export function* purgeIndex(db: Db): Generator<void> {
  const purged = db.list<{ seq: number }>('select seq from unpurged')
  // A negative number begins a merge of all segments.
  for (let pages = -limits.mergedPagesPerPiece; merge(db, pages); pages = limits.mergedPagesPerPiece) yield
  db.tx(() => {
    for (const { seq } of purged) db.run('delete from unpurged where seq = $seq', { seq })
  })
}

/**
 * Deletes a transcript. Its first utterances leave the database in this transaction; `writeIndexPiece`
 * removes the others. No reader sees them in between.
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

/** Replaces the text of one utterance in the index. */
export function replaceInIndex(
  db: Db,
  { id: jobId, seq, accountId }: IndexedJob,
  index: number,
  text: string,
): void {
  const row = db.find<{ unindexed: number }>('select unindexed from transcripts where job_id = $jobId', {
    jobId,
  })
  if (!row || index < row.unindexed) return
  const id = utteranceId(seq, index)
  db.run('delete from search where rowid = $id', { id })
  addRow(db, accountId, id, text)
}

function findDue(db: Db): DueJob | null {
  return db.find<DueJob>(
    `select jobs.id, seq, account_id as accountId, unindexed from transcripts join jobs on jobs.id = job_id
     where unindexed > 0 and head is not null order by job_id desc limit 1`,
  )
}

/** Finds a deleted transcript whose utterances are not all removed. */
function findDeleted(db: Db, jobId: string | null = null): { id: string; seq: number } | null {
  return db.find<{ id: string; seq: number }>(
    `select jobs.id, seq from transcripts join jobs on jobs.id = job_id
     where head is null and ($jobId is null or job_id = $jobId) limit 1`,
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

/**
 * Removes the last utterances of a deleted transcript from the index and from the database, and at the end
 * the row of the transcript.
 */
function removePiece(db: Db, { id: jobId, seq }: { id: string; seq: number }): void {
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
  if (ids.length === limits.removedUtterancesPerPiece) return
  db.run('delete from transcripts where job_id = $jobId', { jobId })
  db.run('insert into unpurged (seq) values ($seq) on conflict do nothing', { seq })
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
  return words.split(' ').length + 1
}

function merge(db: Db, pages: number): boolean {
  return db.tx(() => {
    const before = totalChanges(db)
    db.run("insert into search (search, rank) values ('merge', $pages)", { pages })
    // FTS5 documents this test: a merge without work counts as one change.
    return totalChanges(db) - before >= 2
  })
}

function totalChanges(db: Db): number {
  return db.find<{ changes: number }>('select total_changes() as changes')?.changes ?? 0
}
