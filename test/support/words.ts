// Compares a transcript with its reference (the right words and times): counts word errors, and words with correct
// times.

import type { Transcript, Word } from '../../src/transcripts/transcript.ts'

export type Truth = {
  file: string
  duration: number
  language: string
  text: string
  sentences: { text: string; words: { word: string; start: number; end: number }[] }[]
}

export function plainWords(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}' ]/gu, ' ')
    .split(/\s+/)
    .filter(each => each !== '')
}

/**
 * Aligns two lists of words with as few errors as possible. Returns the number of errors (deletions, insertions and
 * substitutions), and the index pairs of equal words.
 */
export function compareWords(truth: readonly string[], heard: readonly string[]) {
  const width = heard.length + 1
  const costs = new Uint32Array((truth.length + 1) * width)
  for (let i = 0; i <= truth.length; i++) {
    for (let j = 0; j <= heard.length; j++) {
      const at = i * width + j
      if (i === 0 || j === 0) {
        costs[at] = i + j
        continue
      }
      const differs = truth[i - 1] === heard[j - 1] ? 0 : 1
      costs[at] = Math.min(costs[at - width - 1]! + differs, costs[at - width]! + 1, costs[at - 1]! + 1)
    }
  }
  const pairs: [number, number][] = []
  for (let i = truth.length, j = heard.length; i > 0 && j > 0; ) {
    const at = i * width + j
    if (truth[i - 1] === heard[j - 1] && costs[at] === costs[at - width - 1]) pairs.push([--i, --j])
    else if (costs[at] === costs[at - width - 1]! + 1) [i, j] = [i - 1, j - 1]
    else if (costs[at] === costs[at - width]! + 1) i--
    else j--
  }
  return { errors: costs.at(-1)!, pairs: pairs.reverse() }
}

/**
 * Compares the word times with those of the reference `truth`. `of` is the number of correctly recognised words.
 * `right` is the number of these words whose start and end are at most `within` seconds wrong.
 */
export function compareTimes(truth: Truth, transcript: Transcript, within = 0.2) {
  const expected = truth.sentences.flatMap(each => each.words)
  const heard = transcript.utterances.flatMap(each => each.words)
  const plain = (words: readonly { word: string }[]) => words.map(each => plainWords(each.word).join(''))
  const { pairs } = compareWords(plain(expected), plain(heard))
  const near = (a: Word | { start: number; end: number }, b: { start: number; end: number }) =>
    Math.abs(a.start - b.start) <= within && Math.abs(a.end - b.end) <= within
  return { right: pairs.filter(([i, j]) => near(heard[j]!, expected[i]!)).length, of: pairs.length }
}
