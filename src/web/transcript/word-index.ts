// The words of a transcript, with their times and their positions in the text.

import { lastAtMost } from '../base/last-at-most.ts'
import type { Utterance } from './document.ts'
import { timesOf, type WordTimes } from './word-times.ts'

/** The words of all utterances, in the order of the text. The same index in each array belongs to the same word. */
export type WordIndex = {
  starts: Float64Array
  ends: Float64Array
  /** The index of the utterance that contains the word. */
  owners: Uint32Array
  /** The positions in the utterance's text at which the word begins (`from`) and ends (`to`), in UTF-16 code units. */
  from: Uint32Array
  to: Uint32Array
  confidence: Float32Array
  times: WordTimes
}

export function indexWords(utterances: readonly Utterance[]): WordIndex {
  const count = utterances.reduce((sum, { words }) => sum + Math.max(1, words.length), 0)
  const index = {
    starts: new Float64Array(count),
    ends: new Float64Array(count),
    owners: new Uint32Array(count),
    from: new Uint32Array(count),
    to: new Uint32Array(count),
    confidence: new Float32Array(count),
  }
  let at = 0
  utterances.forEach(({ text, words, start, end, confidence }, owner) => {
    // If the list of words is empty, the whole text of the utterance is indexed as a single word.
    if (words.length === 0) put(index, at++, { start, end, owner, from: 0, to: text.length, confidence })
    let offset = 0
    for (const word of words) {
      // Until an edit is saved, `words` belongs to the text before the edit. A word that is not in the new text gets an
      // empty range (`from` equals `to`).
      const found = text.indexOf(word.word, offset)
      const from = found < 0 ? offset : found
      const to = found < 0 ? offset : found + word.word.length
      put(index, at++, { start: word.start, end: word.end, owner, from, to, confidence: word.confidence })
      offset = to
    }
  })
  return { ...index, times: timesOf(index.starts, index.ends) }
}

type Place = {
  start: number
  end: number
  owner: number
  from: number
  to: number
  confidence: number | null
}

function put(
  index: Omit<WordIndex, 'times'>,
  at: number,
  { start, end, owner, from, to, confidence }: Place,
): void {
  index.starts[at] = start
  index.ends[at] = end
  index.owners[at] = owner
  index.from[at] = from
  index.to[at] = to
  index.confidence[at] = confidence ?? 1
}

/** Returns the index of the first word in the utterance with the index `utterance`. */
export function firstWordOf({ owners }: WordIndex, utterance: number): number {
  return lastAtMost(owners, utterance - 1) + 1
}

/** Returns the index of the word at the position `character` in the utterance with the index `utterance`. */
export function wordAtCharacter(index: WordIndex, utterance: number, character: number): number {
  let word = firstWordOf(index, utterance)
  while (index.owners[word + 1] === utterance && (index.to[word] ?? 0) < character) word++
  return word
}
