// Scores transcripts of real speech: word errors, words in digital silence (samples of 0), and differences between the
// word times of two programs.

import { compareWords, plainWords } from '../../../test/support/words.ts'
import type { Pause } from './pauses.ts'
import type { Sound } from './real-speech.ts'

export type TimedWord = { word: string; start: number; end: number }

export type Errors = { of: number; wrong: number; lost: number; invented: number }

/**
 * The longest allowed overlap of a word with digital silence, in seconds. A word with a longer overlap counts as an
 * error: the program has recognised a word where nobody speaks.
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

/** Counts the words that overlap a stretch of digital silence for more than `silenceSecondsMax`. */
export function wordsOverSilence(
  { utterances }: Pick<Sound, 'utterances'>,
  words: readonly TimedWord[],
): number {
  const pauses = digitalSilence(utterances)
  return words.filter(word =>
    pauses.some(pause => Math.min(pause.to, word.end) - Math.max(pause.from, word.start) > silenceSecondsMax),
  ).length
}

/** Returns the stretches of digital silence before, between and after the utterances. */
export function digitalSilence(utterances: Sound['utterances']): Pause[] {
  const ends = [0, ...utterances.map(({ to }) => to)]
  return ends.map((from, index) => ({ from, to: utterances[index]?.from ?? Number.POSITIVE_INFINITY }))
}

/** Counts the words that end before they start, and the words that start before the previous word ends. */
export function wordsOutOfOrder(words: readonly TimedWord[]): number {
  const tolerance = 1e-6
  return words.filter(
    ({ start, end }, index) => end < start || start < (words[index - 1]?.end ?? 0) - tolerance,
  ).length
}

/**
 * Compares the start times of the words that both programs recognised. `of` counts the compared words. `near` counts
 * the compared words whose start times differ by at most 0.2 s. `theirs` is the reference. If one of its words starts
 * while nobody speaks (in one of `pauses`), this start is too early, so the word is not compared. But in the last
 * `before` seconds of a pause, a start is nearly right, so the word is compared.
 */
export function compareStarts(
  ours: readonly TimedWord[],
  theirs: readonly TimedWord[],
  { pauses = [], before = 0 }: { pauses?: readonly Pause[]; before?: number } = {},
) {
  const plain = (words: readonly TimedWord[]) => words.map(({ word }) => plainWords(word).join(''))
  const inPause = (at: number) => pauses.some(({ from, to }) => at > from && at < to - before)
  const starts = compareWords(plain(theirs), plain(ours))
    .pairs.map(([their, our]) => ({ their: theirs[their]?.start ?? 0, our: ours[our]?.start ?? 0 }))
    .filter(({ their }) => !inPause(their))
  const near = starts.filter(({ their, our }) => Math.abs(their - our) <= startsWithinSeconds)
  return { near: near.length, of: starts.length }
}

/**
 * A word counts as the first one after a pause only if it ends more than this many seconds after the end of the pause.
 * A word counts as the last one before a pause only if it starts more than this many seconds before the pause. Without
 * this margin, a small error in the time of a word could put the word on the wrong side of the pause.
 */
const wordSecondsMin = 0.08
/**
 * The first word after a pause must start less than this many seconds after the end of the pause. Otherwise, the
 * program missed a word, and the pause is not scored.
 */
const lostAfterSeconds = 0.35

/**
 * Returns the start of the first word after each pause, in seconds after the end of the pause. A start in the pause is
 * negative. Pauses whose next word was not recognised are left out.
 */
export function startsAfterPauses(pauses: readonly Pause[], words: readonly TimedWord[]): number[] {
  return pauses.flatMap(({ to }) => {
    const word = words.find(({ end }) => end > to + wordSecondsMin)
    return word && word.start < to + lostAfterSeconds ? [word.start - to] : []
  })
}

/**
 * The last word before a pause must end less than this many seconds before the start of the pause. Otherwise, the
 * program missed a word, and the pause is not scored.
 */
const lostBeforeSeconds = 0.5

/**
 * Returns the end of the last word before each pause, in seconds after the start of the pause. An end in the pause is
 * positive. Pauses whose previous word was not recognised are left out.
 */
export function endsBeforePauses(pauses: readonly Pause[], words: readonly TimedWord[]): number[] {
  return pauses.flatMap(({ from }) => {
    const word = words.findLast(({ start }) => start < from - wordSecondsMin)
    return word && word.end > from - lostBeforeSeconds ? [word.end - from] : []
  })
}
