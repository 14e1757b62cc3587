// Finds the speaker of each word: the speaker whose turn overlaps the word most. A few words of another speaker in a
// sentence are assigned to the main speaker of the sentence.

import { correctSentence, mostOf, sentences, type TimedWord } from './stray-words.ts'
import type { Turn } from './turn.ts'
import type { Timeline } from './turns.ts'

export type Speakers = {
  /** The number of the speaker of each word. */
  ofWords: number[]
  /** The turns of the recording. Each speaker has the same number here as in `ofWords`. */
  turns: Turn[]
}

/**
 * Returns the speakers of the words and of the turns. Speakers are numbered from 0, in the order of their first words.
 * Speakers without words come last.
 */
export function speakersOf(words: readonly TimedWord[], { turns, exclusive }: Timeline): Speakers {
  const speakers = speakersOfTurns(words, exclusive)
  for (const { first, end } of sentences(words)) correctSentence(speakers, first, end)
  const order = [...new Set([...speakers, ...turns.map(({ speaker }) => speaker)])]
  return {
    ofWords: speakers.map(speaker => order.indexOf(speaker)),
    turns: turns.map(turn => ({ ...turn, speaker: order.indexOf(turn.speaker) })),
  }
}

/**
 * Returns, for each word, the speaker who talks longest during the word. If there is none, the result is the speaker of
 * the nearest turn, or 0 without turns. Words and turns are in order of time.
 */
function speakersOfTurns(words: readonly TimedWord[], turns: readonly Turn[]): number[] {
  let near = 0
  return words.map(({ from, to }) => {
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
