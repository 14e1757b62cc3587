// Computes the times of the words of a window by dynamic time warping (DTW) over the cross-attention of the alignment
// heads. For each token, the attention of these heads is at the place of the sound where the token is spoken. Each token
// uses the attention of the decoding pass that predicted the token.

import { framesPerSecond } from '../audio.ts'
import type { AlignedWord } from './aligned-word.ts'
import { type AttendedBand, attentionIn } from './attention.ts'
import { mergePunctuation } from './punctuation.ts'
import type { Tokenizer } from './tokenizer.ts'
import { startsOf, warp } from './warp.ts'
import { limitLengths } from './word-lengths.ts'

/** The text tokens between two adjacent timestamp tokens of a window. */
export type Segment = {
  ids: readonly number[]
  logProbabilities: readonly number[]
  /**
   * One cross-attention array (heads × frames) for each text token of the segment, and a last array for the token that
   * follows the segment, such as a timestamp token.
   */
  attention: readonly Float32Array[]
  /**
   * The times of the first and of the last timestamp token of the segment, in model frames (20 ms each) of the window.
   */
  from: number
  to: number
}

/** The largest error of a timestamp token that the alignment tolerates: 0.3 s, in model frames of 20 ms. */
const timeErrorMax = 0.3 * framesPerSecond
/** The usual error of the time that a timestamp token gives: 0.1 s, in model frames of 20 ms. */
const timeError = 0.1 * framesPerSecond

/**
 * Returns the times of all words of a window. A segment is the text between two timestamp tokens. Dynamic time warping
 * aligns the text of all segments with the sound in one step. But the words of a segment stay between the start and the
 * end of this segment, with a small tolerance. Otherwise a word could get the time of speech for which the model
 * returned no text.
 */
export function wordTimes(
  tokenizer: Tokenizer,
  language: string,
  segments: readonly Segment[],
  frames: number,
): AlignedWord[] {
  if (segments.length === 0) return []
  const starts = startsOf(warp(attentionIn(bandsOf(segments, frames), frames)))
  let next = 0
  const words = segments.flatMap(segment => {
    const first = next
    next += segment.attention.length
    return withinTimes(
      wordsOf(tokenizer.words(segment.ids, language), segment, starts.slice(first, next)),
      segment,
    )
  })
  return limitLengths(mergePunctuation(words))
}

function bandsOf(segments: readonly Segment[], frames: number): AttendedBand[] {
  const beginOf = ({ from }: Segment) => Math.max(0, Math.min(from - timeErrorMax, frames - 1))
  return segments.flatMap((segment, index) => {
    const begin = beginOf(segment)
    const end = Math.min(frames, Math.max(segment.to + timeErrorMax, begin + 1))
    const next = segments[index + 1]
    const last = next ? Math.max(end, beginOf(next)) : end
    return segment.attention.map((attention, step) => ({
      begin,
      end: step === segment.attention.length - 1 ? last : end,
      attention,
    }))
  })
}

/**
 * Limits the first and the last word of a segment to the times of the segment, with a tolerance of `timeError`. Without
 * this limit, these two words would include too much silence.
 */
function withinTimes(words: AlignedWord[], { from, to }: Segment): AlignedWord[] {
  const [first, last] = [words[0], words.at(-1)]
  if (first && from - timeError < first.to) first.from = Math.max(first.from, from - timeError)
  if (last && to + timeError > last.from) last.to = Math.min(last.to, to + timeError)
  return words
}

function wordsOf(
  words: readonly { text: string; ids: number[] }[],
  { logProbabilities }: Segment,
  starts: readonly number[],
): AlignedWord[] {
  let at = 0
  return words.map(({ text, ids }) => {
    const next = at + ids.length
    const sum = logProbabilities.slice(at, next).reduce((total, each) => total + Math.exp(each), 0)
    const word = { text, from: starts[at]!, to: starts[next]!, probability: sum / ids.length }
    at = next
    return word
  })
}
