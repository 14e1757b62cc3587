// The hits of a search: utterances, and the parts of their texts that match the query.

import type { PhraseFinder, Stretch } from '../transcripts/find-phrases.ts'
import type { Utterance } from '../transcripts/transcript.ts'
import { placeOfUtterance } from '../transcripts/utterance-id.ts'

/**
 * A part of an utterance's text that matches the query. `start` and `end` are its times in the recording, in seconds.
 */
export type Match = Stretch & { start: number; end: number }

/** An utterance that contains all phrases of a search query. */
export type Hit = {
  jobId: string
  /** The name of the uploaded media file. Null if the source of the job is an address. */
  filename: string | null
  sourceUrl: string | null
  createdAt: number
  /** The index of the utterance in its transcript. */
  index: number
  utterance: Utterance
  matches: Match[]
}

export type HitRow = Pick<Hit, 'jobId' | 'filename' | 'sourceUrl' | 'createdAt'> & {
  rowId: number
  body: string
}

export function hitOf({ rowId, body, ...row }: HitRow, finder: PhraseFinder): Hit {
  const utterance = JSON.parse(body) as Utterance
  return {
    ...row,
    index: placeOfUtterance(rowId).index,
    utterance,
    matches: matchesIn(utterance, finder),
  }
}

/**
 * Returns the parts of an utterance that match the phrases. A part has the times of its first and its last timed word.
 * A part without timed words has the times of the utterance.
 */
function matchesIn({ text, start, end, words }: Utterance, finder: PhraseFinder): Match[] {
  const spoken = placeWords(text, words)
  // Matches and words are both in the order of the text, so one pass over the words is enough.
  let next = 0
  return finder.find(text).map(({ from, to }) => {
    while ((spoken[next]?.to ?? to) <= from) next += 1
    let after = next
    while ((spoken[after]?.from ?? to) < to) after += 1
    const touched = spoken.slice(next, after)
    return { from, to, start: touched[0]?.start ?? start, end: touched.at(-1)?.end ?? end }
  })
}

/**
 * Returns the position of each word in the text of the utterance. A word is searched after the previous one, and is
 * left out if it is not found.
 */
function placeWords(text: string, words: Utterance['words']): Match[] {
  let cursor = 0
  return words.flatMap(({ word, start, end }) => {
    const from = text.indexOf(word, cursor)
    if (from < 0) return []
    cursor = from + word.length
    return [{ from, to: cursor, start, end }]
  })
}
