// Edits a stored transcript: the texts of utterances, and the names of speakers. The database also keeps the engine's
// version of each edited utterance, and of the head of the transcript (the fields without the utterances).

import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { writtenWithoutSpaces } from '../languages.ts'
import { fold } from './pieces.ts'
import { withText } from './retime.ts'
import { type IndexedJob, replaceInIndex } from './search-index.ts'
import { findUtterance, utteranceId, utterancesMax } from './store.ts'
import type { Transcript } from './transcript.ts'

export type Edits = {
  utterances: readonly { index: number; text: string }[]
  /**
   * The new names of speakers. A key of this record is the present name of a speaker, or the label that the engine gave
   * to the speaker.
   */
  speakers: Readonly<Record<string, string>>
}

type Head = Omit<Transcript, 'utterances'>
type StoredHead = { head: string; names: string | null; edits: number }
type Names = Record<string, string>

/** Returns the number of edits of a job's transcript, or null if the job has no transcript. */
export function countEdits(db: Db, jobId: string): number | null {
  return findHead(db, jobId)?.edits ?? null
}

/**
 * Edits the transcript of a job. Must run in a transaction. Throws an ApiError if the edit names an utterance or a
 * speaker that the transcript does not have.
 */
export function editTranscript(db: Db, job: IndexedJob, { utterances, speakers }: Edits): void {
  const stored = findHead(db, job.id)
  if (!stored) throw new Error('the transcript is not there')
  const head = JSON.parse(stored.head) as Head
  const names = JSON.parse(stored.names ?? '{}') as Names
  for (const [position, { index, text }] of utterances.entries())
    editUtterance(db, job, head.language, { position, index, text })
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

function editUtterance(
  db: Db,
  job: IndexedJob,
  language: string,
  { position, index, text }: { position: number; index: number; text: string },
): void {
  const before = findUtterance(db, job.seq, index)
  const original = findUtterance(db, job.seq, index, 'original')
  if (!before || !original) throw invalid(`utterances[${position}].index is not the index of an utterance.`)
  const after = withText(before, { original, text: fold(text), language })
  db.run('update utterances set original = coalesce(original, body), body = $body where id = $id', {
    id: utteranceId(job.seq, index),
    body: JSON.stringify(after),
  })
  if (after.text !== before.text) replaceInIndex(db, job, index, after.text)
}

/** Returns the lowest and the highest row id that the utterances of a job can have in the database. */
function rowsOf({ seq }: IndexedJob): { first: number; last: number } {
  return { first: seq * utterancesMax, last: (seq + 1) * utterancesMax - 1 }
}

function joinedText(db: Db, job: IndexedJob, language: string): string {
  const row = db.find<{ text: string | null }>(
    `select group_concat(text, $separator) as text from (
       select body ->> '$.text' as text from utterances where id between $first and $last order by id desc
     ) where text <> ''`,
    { ...rowsOf(job), separator: writtenWithoutSpaces(language) ? '' : ' ' },
  )
  return row?.text ?? ''
}

/**
 * Renames speakers in three places: in `head` (the fields of the transcript without the utterances), in the utterances,
 * and in `names` (the present name for each label of the engine). Two speakers may have the same name afterwards.
 */
function renameSpeakers(
  db: Db,
  job: IndexedJob,
  head: Head,
  names: Names,
  speakers: Edits['speakers'],
): void {
  const shown = head.speakers ?? []
  const renames = new Map<string, string>()
  for (const [label, name] of Object.entries(speakers)) {
    const current = shown.includes(label) ? label : Object.hasOwn(names, label) ? names[label] : undefined
    if (current === undefined) {
      const known = shown.length > 0 ? `its speakers are ${shown.join(', ')}` : 'it has no speakers'
      throw invalid(`speakers names a speaker that the transcription does not have: ${known}.`)
    }
    renames.set(current, name)
  }
  if (renames.size === 0) return
  for (const label of head.speakers ?? []) if (!Object.values(names).includes(label)) names[label] = label
  for (const [label, name] of Object.entries(names)) names[label] = renames.get(name) ?? name
  head.speakers = [...new Set(shown.map(name => renames.get(name) ?? name))]
  renameInUtterances(db, job, [...renames])
}

/**
 * Renames speakers in the JSON of the utterances. First, each old name is replaced by a mark. Then each mark is
 * replaced by the new name. Two speakers can therefore exchange their names. A mark starts with a control character,
 * which JSON contains only in escaped form, so no other text looks like a mark.
 */
function renameInUtterances(db: Db, job: IndexedJob, renames: readonly [string, string][]): void {
  const params: Record<string, string> = {}
  let [toMarks, toNames] = ['body', '']
  for (const [at, [from, to]] of renames.entries()) {
    params[`from${at}`] = `"speaker":${JSON.stringify(from)}`
    params[`mark${at}`] = `\u0001${at}\u0001`
    params[`to${at}`] = `"speaker":${JSON.stringify(to)}`
    toMarks = `replace(${toMarks}, $from${at}, $mark${at})`
  }
  toNames = toMarks
  for (const at of renames.keys()) toNames = `replace(${toNames}, $mark${at}, $to${at})`
  const touched = [...renames.keys()].map(at => `instr(body, $from${at}) > 0`).join(' or ')
  db.run(
    `update utterances set original = coalesce(original, body), body = ${toNames}
     where id between $first and $last and (${touched})`,
    { ...params, ...rowsOf(job) },
  )
}

function invalid(message: string): ApiError {
  return new ApiError('INVALID_REQUEST', message)
}
