// Finds the word at a time, and the pauses between words. Words of separate channels can overlap, so the order of the
// times may differ from the order of the text.

import { lastAtMost } from '../base/last-at-most.ts'

/**
 * The times of words, in the order of their starts. The same index in each of these arrays belongs to the same word.
 */
export type WordTimes = {
  /**
   * The index of each word in the text. The words here are in the order of their starts. The text can have another
   * order, because words of separate channels can overlap.
   */
  words: Uint32Array
  starts: Float64Array
  ends: Float64Array
  /** The latest end among this word and all words that start before it. */
  latestEnds: Float64Array
}

export function timesOf(starts: Float64Array, ends: Float64Array): WordTimes {
  // Most words are already in order. Browsers sort an ordinary array of such words twice as fast as a typed array.
  const order = [...starts.keys()].sort((one, other) => (starts[one] ?? 0) - (starts[other] ?? 0))
  const words = Uint32Array.from(order)
  const times = {
    words,
    starts: new Float64Array(words.length),
    ends: new Float64Array(words.length),
    latestEnds: new Float64Array(words.length),
  }
  let latest = 0
  words.forEach((word, at) => {
    const end = ends[word] ?? 0
    latest = Math.max(latest, end)
    times.starts[at] = starts[word] ?? 0
    times.ends[at] = end
    times.latestEnds[at] = latest
  })
  return times
}

/**
 * Returns the index of the word at the time `seconds`. If several words overlap, returns the one that starts last.
 * During a pause, returns the word that started last. Returns -1 before the first word.
 */
export function wordAt({ words, starts, ends, latestEnds }: WordTimes, seconds: number): number {
  const last = lastAtMost(starts, seconds)
  for (let at = last; (latestEnds[at] ?? 0) > seconds; at--) {
    if ((ends[at] ?? 0) > seconds) return words[at] ?? -1
  }
  return words[last] ?? -1
}

/** Returns the pause at the time `seconds`. Returns null if a word is spoken at this time, or if no word follows. */
export function pauseAt(
  { starts, latestEnds }: WordTimes,
  seconds: number,
): { start: number; end: number } | null {
  const last = lastAtMost(starts, seconds)
  const start = latestEnds[last] ?? 0
  const end = starts[last + 1]
  return end === undefined || start > seconds ? null : { start, end }
}
