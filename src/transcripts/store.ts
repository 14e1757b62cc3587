// Stores transcripts in the database. The head of a transcript (all fields except the utterances) is one row, and each
// utterance is another row. Searches and edits can therefore access single utterances.

import type { Db } from '../db/db.ts'
import { joinPart } from './search-parts.ts'
import type { Transcript, Utterance } from './transcript.ts'
import { utteranceId, utterancesMax } from './utterance-id.ts'

/** The fields of a job that identify the rows of its transcript. */
type Place = { id: string; seq: number }

/**
 * Stores the transcript of a job. Must run in the transaction that completes the job. `stored` is the number of
 * utterances that are already in the database.
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

/**
 * Stores the utterances from the index `from` up to, but not including, `to`. A later utterance has a lower row id (see
 * `utteranceId`). The last utterance is stored first, so that the inserted row ids ascend. With descending row ids,
 * SQLite leaves half of each page empty.
 */
export function storeUtterances(
  db: Db,
  seq: number,
  utterances: readonly Utterance[],
  { from, to }: { from: number; to: number },
): void {
  for (const [offset, utterance] of [...utterances.slice(from, to).entries()].toReversed())
    db.run('insert into utterances (id, body) values ($id, $body)', {
      id: utteranceId(seq, from + offset),
      body: JSON.stringify(utterance),
    })
}
