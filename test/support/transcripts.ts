// Adds completed jobs with transcripts directly to a database, without an engine. Tests of the built program can also
// use these functions.

import { newId } from '../../src/base/id.ts'
import type { Db } from '../../src/db/db.ts'
import { writeIndexPiece } from '../../src/transcripts/search-index.ts'
import { mergeIndexPiece, needsPurge, purgeIndex } from '../../src/transcripts/search-merge.ts'
import { storeTranscript } from '../../src/transcripts/store.ts'
import type { Transcript, Utterance } from '../../src/transcripts/transcript.ts'

type Owner = { id: string; keyId: string }

/** Returns an utterance with the given text. Each word lasts half a second. */
export function utteranceOf(text: string, start = 0, speaker: string | null = null): Utterance {
  const words = text.split(/\s+/).filter(word => word !== '')
  return {
    start,
    end: start + words.length / 2,
    text,
    speaker,
    confidence: 0.9,
    words: words.map((word, index) => ({
      word,
      start: start + index / 2,
      end: start + index / 2 + 0.5,
      confidence: 0.9,
      ...(speaker === null ? {} : { speaker }),
    })),
  }
}

/** Returns a transcript with one utterance for each text. The utterances start ten seconds apart. */
export function transcriptWith(texts: readonly string[], speakers: readonly string[] = []): Transcript {
  const utterances = texts.map((text, index) =>
    utteranceOf(text, index * 10, speakers[index % speakers.length] ?? null),
  )
  return {
    full_transcript: texts.join(' '),
    language: 'en',
    duration_seconds: texts.length * 10,
    speakers: speakers.length > 0 ? [...new Set(speakers)] : null,
    utterances,
    model: 'steered',
    warnings: [],
  }
}

/** Adds a completed job with the given transcript to the database. Returns the job's id. */
export function addTranscript(
  db: Db,
  { id: accountId, keyId }: Owner,
  transcript: Transcript | readonly string[],
): string {
  const id = newId()
  const whole = Array.isArray(transcript) ? transcriptWith(transcript) : (transcript as Transcript)
  db.tx(() => {
    db.run(
      `insert into jobs (id, account_id, key_id, state, state_at, source_url, diarize, align, duration_ms,
         cost_units, created_at, started_at, completed_at, media_kept)
       values ($id, $accountId, $keyId, 'completed', 0, 'https://media.example/a.mp3', $diarize, 1, 60000,
         0, $now, $now, $now, 0)`,
      { id, accountId, keyId, diarize: Number(whole.speakers !== null), now: db.now() },
    )
    const seq = db.find<{ seq: number }>('select seq from jobs where id = $id', { id })!.seq
    storeTranscript(db, { id, seq }, whole)
  })
  return id
}

/**
 * Runs all pending work on the search index, and returns the number of pieces of work: new entries, merges, and purges
 * of deleted entries.
 */
export function completeIndex(db: Db): number {
  let pieces = 0
  while (writeIndexPiece(db)) pieces += 1
  while (mergeIndexPiece(db)) pieces += 1
  if (needsPurge(db)) for (const _ of purgeIndex(db)) pieces += 1
  return pieces
}
