// Keeps the search index up to date with the utterances. The index has one row for each utterance. Each transaction
// writes only a small piece of the index, because a write blocks the event loop.
//
// FTS5 only marks a deleted row. The words of the row stay in the file until a merge rewrites their segment. A purge
// therefore merges all segments into one. The table `unpurged` lists the deleted transcripts that need a purge.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { leavePart, wordInPart } from './search-parts.ts'
import { indexedWords } from './search-words.ts'
import { utteranceId, utterancesMax } from './store.ts'
import type { Utterance } from './transcript.ts'

/** The fields of a job that the index needs. */
export type IndexedJob = { id: string; seq: number }

type DueJob = IndexedJob & { part: number; unindexed: number }

/** `part` is null for the transcript of a job that did not complete. */
type DeletedJob = IndexedJob & { part: number | null }

/**
 * Removes one piece of a deleted transcript from the index. If there is no deleted transcript, adds one piece of the
 * newest transcript that the index does not contain completely. Returns false when the index is complete.
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
 * Merges a piece of the index. A search is faster when the index has few segments. Returns false when no segments
 * need a merge.
 */
export function mergeIndexPiece(db: Db): boolean {
  return merge(db, limits.mergedPagesPerPiece)
}

/** Returns true if the words of a deleted transcript may still be in the index. */
export function needsPurge(db: Db): boolean {
  return db.find('select 1 from unpurged limit 1') !== null
}

/**
 * Removes the words of deleted transcripts from the index. Merges one piece for each `next` of the generator.
 * Transcripts that are deleted during the purge need another purge.
 */
export function* purgeIndex(db: Db): Generator<void> {
  const purged = db.list<{ seq: number }>('select seq from unpurged')
  // In FTS5, a negative number of pages starts a merge of all segments into one.
  for (let pages = -limits.mergedPagesPerPiece; merge(db, pages); pages = limits.mergedPagesPerPiece) yield
  db.tx(() => {
    for (const { seq } of purged) db.run('delete from unpurged where seq = $seq', { seq })
  })
}

/**
 * Deletes a transcript. This call removes the head and a limited number of utterances. `writeIndexPiece` removes the
 * other utterances later. Without a head, no reader finds the transcript or its utterances.
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
 * Finds a deleted transcript that still has utterances in the database. The transcript of an unfinished job also has
 * no head while it is being stored, but it is not deleted.
 */
function findDeleted(db: Db, jobId: string | null = null): DeletedJob | null {
  return db.find<DeletedJob>(
    `select jobs.id, seq, part from transcripts join jobs on jobs.id = job_id
     where head is null and completed_at is not null and ($jobId is null or job_id = $jobId) limit 1`,
    { jobId },
  )
}

/**
 * Adds a piece of a transcript to the index, from the last utterance towards the first. The row ids increase in this
 * order, and FTS5 is fast when row ids increase.
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
 * Removes a piece of a deleted transcript from the index and from the database, from the last utterance towards the
 * first. The last piece also removes the row of the transcript.
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

/** Adds an utterance to the index. Returns the number of indexed words, and one more for the row. */
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
    // This test is documented by FTS5: the statement itself counts as one change, and a merge counts as more changes.
    return totalChanges(db) - before >= 2
  })
}

function totalChanges(db: Db): number {
  return db.find<{ changes: number }>('select total_changes() as changes')?.changes ?? 0
}
