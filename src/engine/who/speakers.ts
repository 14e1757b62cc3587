// Finds the speaker of each word. It is the speaker whose turn overlaps the word most. If a few words inside a sentence
// have another speaker, they are assigned to the main speaker of the sentence.

import { endsSentence } from '../../transcripts/sentence.ts'
import { utterancePause } from '../audio.ts'
import type { Turn } from './turns.ts'

type TimedWord = { text: string; from: number; to: number }

/**
 * Words of another speaker in a sentence are assigned to the main speaker on two conditions: at most `words` of them
 * are adjacent, and they are at most the share `share` (0 to 1) of the sentence's words.
 */
const strayRun = { words: 2, share: 1 / 3 }

/**
 * Returns the number of the speaker of each word. Speakers are numbered from 0, in the order in which they first speak.
 */
export function speakersOf(words: readonly TimedWord[], turns: readonly Turn[]): number[] {
  const speakers = speakersOfTurns(words, turns)
  for (const { first, end } of sentences(words)) smooth(speakers, first, end)
  const order = [...new Set(speakers)]
  return speakers.map(speaker => order.indexOf(speaker))
}

/**
 * Returns the speaker of each word: the speaker who talks during the longest part of the word. If no speaker talks
 * during the word, the speaker of the nearest turn is used. Words and turns are in order of time.
 */
function speakersOfTurns(words: readonly TimedWord[], turns: readonly Turn[]): number[] {
  let near = 0
  return words.map(({ from, to }) => {
    while (near > 0 && (turns[near]?.from ?? 0) > from) near--
    while (near + 1 < turns.length && (turns[near]?.to ?? 0) <= from) near++
    const shared = new Map<number, number>()
    for (let index = near; index < turns.length; index++) {
      const turn = turns[index]
      if (!turn || turn.from >= to) break
      const time = Math.min(to, turn.to) - Math.max(from, turn.from)
      if (time > 0) shared.set(turn.speaker, (shared.get(turn.speaker) ?? 0) + time)
    }
    const around = turns.slice(Math.max(0, near - 1), near + 2)
    const distance = (turn: Turn) => Math.max(turn.from - to, from - turn.to)
    const [nearest] = around.toSorted((one, other) => distance(one) - distance(other))
    return mostOf(shared) ?? nearest?.speaker ?? 0
  })
}

/**
 * Returns the key with the greatest value. If several keys have this value, returns the first one. Returns
 * null for an empty map.
 */
function mostOf(values: ReadonlyMap<number, number>): number | null {
  const [most] = [...values].toSorted((one, other) => other[1] - one[1])
  return most?.[0] ?? null
}

/**
 * Yields each sentence, as the index of its first word and the index after its last word. A pause of `utterancePause`
 * or more also ends a sentence.
 */
function* sentences(words: readonly TimedWord[]): Generator<{ first: number; end: number }> {
  let first = 0
  for (const [index, word] of words.entries()) {
    const next = words[index + 1]
    if (next && !endsSentence(word.text) && next.from - word.to < utterancePause) continue
    yield { first, end: index + 1 }
    first = index + 1
  }
}

/** Assigns short series of words of other speakers in a sentence to the main speaker of the sentence. */
function smooth(speakers: number[], first: number, end: number): void {
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
