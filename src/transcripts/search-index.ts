// Writes the search index, which has one row for each utterance. A write blocks the event loop, so each transaction
// writes only a small piece of the index.
// When a row is deleted, FTS5 (SQLite's full-text search) only marks the row as deleted. The words of the row stay in
// the database file until a merge rewrites their segment of the index. A purge therefore merges all segments into one.
// The table `unpurged` lists the deleted transcripts whose words need a purge.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { leavePart, wordInPart } from './search-parts.ts'
import { indexedWords } from './search-words.ts'
import { utteranceId, utterancesMax } from './store.ts'
import type { Utterance } from './transcript.ts'

/** The fields of a job that the search index needs. `seq` is the number of the job. */
export type IndexedJob = { id: string; seq: number }

type DueJob = IndexedJob & { part: number; unindexed: number }

/**
 * A job whose transcript was deleted. `part` is the number of its part of the search index, or null if the job was
 * never completed.
 */
type DeletedJob = IndexedJob & { part: number | null }

/**
 * Writes one piece of the search index. If a transcript was deleted, removes a piece of it. Otherwise, adds a piece of
 * the newest transcript that is not completely in the index. Returns false if there is nothing to write.
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
 * Merges a few pages of the search index, because a search is faster if the index has fewer segments. Returns false if
 * there is nothing to merge.
 */
export function mergeIndexPiece(db: Db): boolean {
  return merge(db, limits.mergedPagesPerPiece)
}

/** Returns true if the search index may still contain words of a deleted transcript. */
export function needsPurge(db: Db): boolean {
  return db.find('select 1 from unpurged limit 1') !== null
}

/**
 * Removes the words of deleted transcripts from the search index. Each `next` of the generator merges a few pages. A
 * transcript that is deleted during the purge needs another purge.
 */
export function* purgeIndex(db: Db): Generator<void> {
  const purged = db.list<{ seq: number }>('select seq from unpurged')
  // With a negative number of pages, FTS5 starts a merge of all segments of the index into one. With a positive number,
  // FTS5 continues this merge.
  for (let pages = -limits.mergedPagesPerPiece; merge(db, pages); pages = limits.mergedPagesPerPiece) yield
  db.tx(() => {
    for (const { seq } of purged) db.run('delete from unpurged where seq = $seq', { seq })
  })
}

/**
 * Deletes a transcript: its head (the fields without the utterances), and a limited number of its utterances. No reader
 * finds a transcript without a head. `writeIndexPiece` removes the other utterances later.
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

/** Replaces the text of one utterance in the search index. Does nothing if the utterance is not in the index yet. */
export function replaceInIndex(db: Db, { id: jobId, seq }: IndexedJob, index: number, text: string): void {
  const row = db.find<{ part: number; unindexed: number }>(
    'select part, unindexed from transcripts where job_id = $jobId',
    { jobId },
  )
  if (!row || index < row.unindexed) return
  const id = utteranceId(seq, index)
  db.run('delete from search where rowid = $id', { id })
  addRow(db, row.part, id, text)
}

function findDue(db: Db): DueJob | null {
  return db.find<DueJob>(
    `select jobs.id, seq, part, unindexed from transcripts join jobs on jobs.id = job_id
     where unindexed > 0 and head is not null order by job_id desc limit 1`,
  )
}

/**
 * Finds a deleted transcript whose utterances are still in the database. Such a transcript has no head. The transcript
 * of an unfinished job that is being stored has no head either, but it is not deleted.
 */
function findDeleted(db: Db, jobId: string | null = null): DeletedJob | null {
  return db.find<DeletedJob>(
    `select jobs.id, seq, part from transcripts join jobs on jobs.id = job_id
     where head is null and completed_at is not null and ($jobId is null or job_id = $jobId) limit 1`,
    { jobId },
  )
}

/**
 * Adds a piece of a transcript to the search index, from the last utterance to the first one. In this order the row ids
 * increase, which makes the inserts of FTS5 fast.
 */
function addPiece(db: Db, { id: jobId, seq, part, unindexed }: DueJob): void {
  let words = 0
  let left = unindexed
  while (left > 0 && words < limits.indexedWordsPerPiece) {
    left -= 1
    const id = utteranceId(seq, left)
    words += addRow(db, part, id, textOf(db, id))
  }
  db.run('update transcripts set unindexed = $left where job_id = $jobId', { jobId, left })
}

/**
 * Removes a piece of a deleted transcript from the search index and from the database, from the last utterance to the
 * first one. With the last piece, it also removes the row of the transcript, and notes in `unpurged` that a purge is
 * needed.
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

function textOf(db: Db, id: number): string {
  const row = db.find<{ body: string }>('select body from utterances where id = $id', { id })
  return row ? (JSON.parse(row.body) as Utterance).text : ''
}

/**
 * Adds an utterance to the search index. Returns the number of its words plus one. The caller uses this number as a
 * measure of the work: an utterance without words causes some work too.
 */
function addRow(db: Db, part: number, id: number, text: string): number {
  const words = indexedWords(text)
  db.run('insert into search (rowid, text) values ($id, $text)', {
    id,
    text: words.map(word => wordInPart(part, word)).join(' '),
  })
  return words.length + 1
}

function merge(db: Db, pages: number): boolean {
  return db.tx(() => {
    const before = totalChanges(db)
    db.run("insert into search (search, rank) values ('merge', $pages)", { pages })
    // This test is from the documentation of FTS5. The statement above counts as one change to the database, even if
    // FTS5 has nothing to merge. Two or more changes mean that FTS5 has merged something.
    return totalChanges(db) - before >= 2
  })
}

function totalChanges(db: Db): number {
  return db.find<{ changes: number }>('select total_changes() as changes')?.changes ?? 0
}
