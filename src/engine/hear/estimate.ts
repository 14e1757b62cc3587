// Estimates the times of words if the model returned no attention. The words of a segment (the text between two
// timestamp tokens) share the speech of the segment in proportion to their numbers of characters.

import type { Segment } from './align.ts'
import type { AlignedWord } from './aligned-word.ts'
import { mergePunctuation } from './punctuation.ts'
import type { Tokenizer } from './tokenizer.ts'

/** A range of a window, in model frames (20 ms each). */
type Frames = { from: number; to: number }

export function estimatedTimes(
  tokenizer: Tokenizer,
  language: string,
  segments: readonly Segment[],
  speech: readonly Frames[],
): AlignedWord[] {
  const words = segments.flatMap(({ ids, logProbabilities, from, to }) => {
    const parts = tokenizer.words(ids, language)
    const total = parts.reduce((sum, { text }) => sum + text.length, 0)
    const timeAt = clockOf(speechWithin(speech, from, to))
    let [length, first] = [0, 0]
    return parts.map(({ text, ids }): AlignedWord => {
      const begin = timeAt(length / total, 'later')
      length += text.length
      const sum = logProbabilities
        .slice(first, first + ids.length)
        .reduce((sum, each) => sum + Math.exp(each), 0)
      first += ids.length
      return { text, from: begin, to: timeAt(length / total, 'earlier'), probability: sum / ids.length }
    })
  })
  return mergePunctuation(words)
}

function speechWithin(speech: readonly Frames[], from: number, to: number): Frames[] {
  const inside = speech
    .map(span => ({ from: Math.max(from, span.from), to: Math.min(to, span.to) }))
    .filter(span => span.from < span.to)
  return inside.length > 0 ? inside : [{ from, to }]
}

/**
 * Returns a function that finds the model frame at which a given share (0 to 1) of the speech has passed. The gaps
 * between the ranges in `speech` do not count. At the border of two ranges, `earlier` gives the end of the first range,
 * and `later` gives the start of the second range.
 */
function clockOf(speech: readonly Frames[]): (share: number, side: 'earlier' | 'later') => number {
  const total = speech.reduce((sum, { from, to }) => sum + to - from, 0)
  return (share, side) => {
    let left = share * total
    for (const { from, to } of speech) {
      const inside = side === 'later' ? left < to - from - 1e-6 : left <= to - from + 1e-6
      if (inside) return Math.min(from + left, to)
      left -= to - from
    }
    return speech.at(-1)?.to ?? 0
  }
}
