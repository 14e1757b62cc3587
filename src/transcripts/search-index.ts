// Writes the search index, which has one row for each utterance. A write blocks the event loop, so each transaction is
// small.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { findDeleted, removePiece } from './delete-transcript.ts'
import { wordInPart } from './search-parts.ts'
import { indexedWords } from './search-words.ts'
import type { Utterance } from './transcript.ts'
import { type IndexedJob, utteranceId } from './utterance-id.ts'

type DueJob = IndexedJob & { part: number; unindexed: number }

/**
 * Does a small part of the work on the search index. If there is a deleted transcript, removes some of its utterances
 * from the index and from the database. Otherwise, adds some utterances of the newest transcript that is not completely
 * indexed. Returns false if there is nothing to do.
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
 * Adds a piece of a transcript to the search index, from the last utterance that is not indexed towards the first. A
 * later utterance has a lower row id, so the row ids rise in this order. Inserts with rising row ids are fast in FTS5
 * (SQLite's full-text search).
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

function textOf(db: Db, id: number): string {
  const row = db.find<{ body: string }>('select body from utterances where id = $id', { id })
  return row ? (JSON.parse(row.body) as Utterance).text : ''
}

/**
 * Adds an utterance to the search index. Returns a measure of the work: the number of words, plus one for the row
 * itself.
 */
function addRow(db: Db, part: number, id: number, text: string): number {
  const words = indexedWords(text)
  db.run('insert into search (rowid, text) values ($id, $text)', {
    id,
    text: words.map(word => wordInPart(part, word)).join(' '),
  })
  return words.length + 1
}
