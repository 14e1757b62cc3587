// Corrects the speakers of single words. The main speaker of a sentence speaks the largest number of its words. One or
// two adjacent words of another speaker in a longer sentence are assigned to the main speaker.

import { endsSentence } from '../../transcripts/sentence.ts'
import { utterancePause } from '../audio.ts'

export type TimedWord = { text: string; from: number; to: number }

/**
 * A few adjacent words of another speaker are assigned to the main speaker of the sentence. Few means at most `words`
 * words, and at most the share `share` (0 to 1) of the sentence.
 */
const strayRun = { words: 2, share: 1 / 3 }

/** Returns the first key with the greatest value, or null for an empty map. */
export function mostOf(values: ReadonlyMap<number, number>): number | null {
  const [most] = [...values].toSorted((one, other) => other[1] - one[1])
  return most?.[0] ?? null
}

/**
 * Yields the index of the first word of each sentence, and the index after its last word. A long pause also ends a
 * sentence.
 */
export function* sentences(words: readonly TimedWord[]): Generator<{ first: number; end: number }> {
  let first = 0
  for (const [index, word] of words.entries()) {
    const next = words[index + 1]
    if (next && !endsSentence(word.text) && next.from - word.to < utterancePause) continue
    yield { first, end: index + 1 }
    first = index + 1
  }
}

/**
 * Corrects the speakers of one sentence: the words from `first` to `end - 1`. A few adjacent words of another speaker
 * are assigned to the main speaker. The main speaker has the largest number of words. If several speakers have this
 * number, the one who speaks first is the main speaker.
 */
export function correctSentence(speakers: number[], first: number, end: number): void {
  const counts = new Map<number, number>()
  for (const speaker of speakers.slice(first, end)) counts.set(speaker, (counts.get(speaker) ?? 0) + 1)
  const main = mostOf(counts)
  if (main === null) return
  for (let from = first, to = first; from < end; from = to) {
    while (to < end && speakers[to] === speakers[from]) to++
    const run = to - from
    if (run <= strayRun.words && run <= strayRun.share * (end - first)) speakers.fill(main, from, to)
  }
}
