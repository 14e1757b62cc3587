// Stores transcripts in the database. The head of a transcript (all fields except the utterances) is one row, and each
// utterance is a row of its own. A search or an edit therefore reads and writes single utterances, even of a long
// transcript.

import type { Db } from '../db/db.ts'
import { joinPart } from './search-parts.ts'
import type { Transcript, Utterance } from './transcript.ts'

/** A version of a transcript. `original` is the text that the engine returned. `current` includes all edits. */
export type Version = 'current' | 'original'

/** Maximum number of utterances of a transcript. A transcript of ten hours of speech has about 10,000 utterances. */
export const utterancesMax = 2 ** 20

/**
 * Returns the row id of an utterance. `seq` is the number of the job. Within a transcript, a later utterance has a
 * lower row id. So if rows are read from the highest id down, the newest job comes first, and the utterances of each
 * job come in the order of speech.
 */
export function utteranceId(seq: number, index: number): number {
  return seq * utterancesMax + (utterancesMax - 1 - index)
}

export function placeOfUtterance(id: number): { seq: number; index: number } {
  return { seq: Math.floor(id / utterancesMax), index: utterancesMax - 1 - (id % utterancesMax) }
}

/** The fields of a job by which the rows of its transcript are found. */
type Place = { id: string; seq: number }

/**
 * Stores the transcript of a job. Must run in the transaction that completes the job. `stored` is the number of
 * utterances of the transcript that are already in the database.
 */
export function storeTranscript(
  db: Db,
  { id, seq }: Place,
  { utterances, ...head }: Transcript,
  stored = 0,
): void {
  if (utterances.length > utterancesMax) throw new Error(`${utterances.length} utterances are too many`)
  db.run(
    `insert into transcripts (job_id, head, unindexed, part) values ($id, $head, $unindexed, $part)
     on conflict (job_id) do update set head = excluded.head, unindexed = excluded.unindexed, part = excluded.part`,
    {
      id,
      head: JSON.stringify(head),
      unindexed: utterances.length,
      part: joinPart(db, id, utterances.length),
    },
  )
  storeUtterances(db, seq, utterances, { from: stored, to: utterances.length })
}

/** Stores the utterances whose index is at least `from` and less than `to`. */
export function storeUtterances(
  db: Db,
  seq: number,
  utterances: readonly Utterance[],
  { from, to }: { from: number; to: number },
): void {
  for (const [offset, utterance] of utterances.slice(from, to).entries())
    db.run('insert into utterances (id, body) values ($id, $body)', {
      id: utteranceId(seq, from + offset),
      body: JSON.stringify(utterance),
    })
}

export function findTranscript(db: Db, jobId: string, version: Version = 'current'): Transcript | null {
  const json = findTranscriptJson(db, jobId, version)
  return json === null ? null : (JSON.parse(json) as Transcript)
}

/** The SQL expressions that select the JSON of each version of a transcript. */
const columns: Record<Version, { head: string; body: string }> = {
  current: { head: 'head', body: 'body' },
  original: { head: 'coalesce(original_head, head)', body: 'coalesce(original, body)' },
}

/**
 * Returns a transcript as JSON text, or null if the job has no transcript. A caller can insert the JSON into a response
 * without parsing it.
 */
export function findTranscriptJson(db: Db, jobId: string, version: Version = 'current'): string | null {
  const { head, body } = columns[version]
  const found = db.find<{ head: string; seq: number }>(
    `select ${head} as head, seq from transcripts join jobs on jobs.id = job_id
     where job_id = $jobId and head is not null`,
    { jobId },
  )
  if (!found) return null
  const utterances = db.list<{ body: string }>(
    `select ${body} as body from utterances where id >= $first and id < $end order by id desc`,
    { first: found.seq * utterancesMax, end: (found.seq + 1) * utterancesMax },
  )
  return `${found.head.slice(0, -1)},"utterances":[${utterances.map(row => row.body).join(',')}]}`
}

/** Returns one utterance of a job, or null if the job has no utterance with this index. */
export function findUtterance(
  db: Db,
  seq: number,
  index: number,
  version: Version = 'current',
): Utterance | null {
  if (index < 0 || index >= utterancesMax) return null
  const { body } = columns[version]
  const row = db.find<{ body: string }>(`select ${body} as body from utterances where id = $id`, {
    id: utteranceId(seq, index),
  })
  return row && (JSON.parse(row.body) as Utterance)
}
