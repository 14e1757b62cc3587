// Edits a stored transcript: the texts of utterances, and the names of speakers. The database keeps the engine's
// original version beside the edited version.

import type { Db } from '../db/db.ts'
import { EditedSize } from './edited-size.ts'
import { findUtterance } from './find-transcript.ts'
import { joinTexts } from './join-texts.ts'
import { fold } from './pieces.ts'
import { type Edits, type Head, invalid, type Names, renameSpeakers } from './rename-speakers.ts'
import { withText } from './retime.ts'
import { replaceInIndex } from './search-index.ts'
import { type IndexedJob, rowsOf, utteranceId } from './utterance-id.ts'

type StoredHead = { head: string; names: string | null; edits: number }

/** Returns the number of edits of a job's transcript, or null if the job has no transcript. */
export function countEdits(db: Db, jobId: string): number | null {
  return findHead(db, jobId)?.edits ?? null
}

/**
 * Edits the transcript of a job. Must run in a transaction. Throws an ApiError if an utterance or speaker does not
 * exist, or if the transcript becomes too large.
 */
export function editTranscript(db: Db, job: IndexedJob, { utterances, speakers }: Edits): void {
  const stored = findHead(db, job.id)
  if (!stored) throw new Error('the transcript is not there')
  const head = JSON.parse(stored.head) as Head
  const names = JSON.parse(stored.names ?? '{}') as Names
  const size = new EditedSize(db, job)
  for (const [position, { index, text }] of utterances.entries())
    editUtterance(db, job, { language: head.language, size, position, index, text })
  if (utterances.length > 0) head.full_transcript = joinedText(db, job, head.language)
  renameSpeakers(db, job, head, names, speakers)
  db.run(
    `update transcripts set original_head = coalesce(original_head, head), head = $head,
       speaker_names = $names, edits = edits + 1 where job_id = $id`,
    { id: job.id, head: JSON.stringify(head), names: JSON.stringify(names) },
  )
}

function findHead(db: Db, jobId: string): StoredHead | null {
  return db.find<StoredHead>(
    `select head, speaker_names as names, edits from transcripts where job_id = $jobId and head is not null`,
    { jobId },
  )
}

type UtteranceEdit = { language: string; size: EditedSize; position: number; index: number; text: string }

function editUtterance(
  db: Db,
  job: IndexedJob,
  { language, size, position, index, text }: UtteranceEdit,
): void {
  const before = findUtterance(db, job.seq, index)
  const original = findUtterance(db, job.seq, index, 'original')
  if (!before || !original) throw invalid(`utterances[${position}].index is not the index of an utterance.`)
  const after = withText(before, { original, text: fold(text), language })
  size.count(position, before, after)
  db.run('update utterances set original = coalesce(original, body), body = $body where id = $id', {
    id: utteranceId(job.seq, index),
    body: JSON.stringify(after),
  })
  if (after.text !== before.text) replaceInIndex(db, job, index, after.text)
}

function joinedText(db: Db, job: IndexedJob, language: string): string {
  const rows = db.list<{ text: string }>(
    `select text from (
       select body ->> '$.text' as text, id from utterances where id between $first and $last
     ) where text <> '' order by id desc`,
    rowsOf(job),
  )
  return joinTexts(
    rows.map(({ text }) => text),
    language,
  )
}
