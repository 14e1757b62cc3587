// Reads transcripts and single utterances from the database.

import type { Steps } from '../base/steps.ts'
import type { Db } from '../db/db.ts'
import type { Transcript, Utterance } from './transcript.ts'
import { rowsOf, utteranceId, utterancesMax } from './utterance-id.ts'

/** `original` is the transcript that the engine returned. `current` includes all edits. */
export type Version = 'current' | 'original'

export function findTranscript(db: Db, jobId: string, version: Version = 'current'): Transcript | null {
  const json = findTranscriptJson(db, jobId, version)
  return json === null ? null : (JSON.parse(json) as Transcript)
}

/**
 * Returns the same transcript as `findTranscript`, but in steps. The first step reads the whole transcript from the
 * database. The server can handle other events between two steps.
 */
export function* findTranscriptInSteps(
  db: Db,
  jobId: string,
  version: Version = 'current',
): Steps<Transcript | null> {
  const found = findParts(db, jobId, version)
  if (!found) return null
  yield
  const utterances: Utterance[] = []
  for (const json of found.utterances) {
    utterances.push(JSON.parse(json))
    yield
  }
  return { ...(JSON.parse(found.head) as Omit<Transcript, 'utterances'>), utterances }
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
  const found = findParts(db, jobId, version)
  return found && `${found.head.slice(0, -1)},"utterances":[${found.utterances.join(',')}]}`
}

/** Returns the JSON of a transcript without its utterances, and the JSON of each utterance. */
function findParts(db: Db, jobId: string, version: Version): { head: string; utterances: string[] } | null {
  const { head, body } = columns[version]
  const found = db.find<{ head: string; seq: number }>(
    `select ${head} as head, seq from transcripts join jobs on jobs.id = job_id
     where job_id = $jobId and head is not null`,
    { jobId },
  )
  if (!found) return null
  const utterances = db.list<{ body: string }>(
    `select ${body} as body from utterances where id between $first and $last order by id desc`,
    rowsOf(found),
  )
  return { head: found.head, utterances: utterances.map(row => row.body) }
}

/**
 * Returns the size of the utterances of a transcript, in bytes of JSON. For ten hours of speech, this takes about 10
 * ms.
 */
export function sizeOfTranscript(db: Db, seq: number): number {
  const { bytes } = db.find<{ bytes: number }>(
    `select coalesce(sum(octet_length(body)), 0) as bytes from utterances where id between $first and $last`,
    rowsOf({ seq }),
  )!
  return bytes
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
