// Scores transcripts of real speech: word errors, words in digital silence, and the differences between the word
// times of two programs.

import { compareWords, plainWords } from '../../../test/support/words.ts'
import type { Sound } from './real-speech.ts'

export type TimedWord = { word: string; start: number; end: number }

export type Errors = { of: number; wrong: number; lost: number; invented: number }

/**
 * The maximum time, in seconds, for which a word may overlap a pause. A word with a longer overlap counts as a word in
 * silence.
 */
const silenceSecondsMax = 0.3
const startsWithinSeconds = 0.2

export function wordErrors(truth: string, heard: string): Errors {
  const [expected, words] = [plainWords(truth), plainWords(heard)]
  const { errors, pairs } = compareWords(expected, words)
  const wrong = expected.length + words.length - 2 * pairs.length - errors
  return {
    of: expected.length,
    wrong,
    lost: expected.length - pairs.length - wrong,
    invented: words.length - pairs.length - wrong,
  }
}

/** Counts the words that overlap a pause for more than `silenceSecondsMax`. */
export function wordsOverSilence({ utterances }: Sound, words: readonly TimedWord[]): number {
  const ends = [0, ...utterances.map(({ to }) => to)]
  const pauses = ends.map((from, index) => ({
    from,
    to: utterances[index]?.from ?? Number.POSITIVE_INFINITY,
  }))
  return words.filter(word =>
    pauses.some(pause => Math.min(pause.to, word.end) - Math.max(pause.from, word.start) > silenceSecondsMax),
  ).length
}

/** Counts the words that end before they start, and the words that start before the previous word ends. */
export function wordsOutOfOrder(words: readonly TimedWord[]): number {
  const tolerance = 1e-6
  return words.filter(
    ({ start, end }, index) => end < start || start < (words[index - 1]?.end ?? 0) - tolerance,
  ).length
}

/**
 * Compares the start times of the words that both programs recognised. `of` is the number of these words. `near` is the
 * number of these words whose two start times differ by at most 0.2 s.
 */
export function compareStarts(ours: readonly TimedWord[], theirs: readonly TimedWord[]) {
  const plain = (words: readonly TimedWord[]) => words.map(({ word }) => plainWords(word).join(''))
  const { pairs } = compareWords(plain(theirs), plain(ours))
  const near = pairs.filter(([their, our]) => {
    const apart = Math.abs((theirs[their]?.start ?? 0) - (ours[our]?.start ?? 0))
    return apart <= startsWithinSeconds
  })
  return { near: near.length, of: pairs.length }
}
