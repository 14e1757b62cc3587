// Computes the times of the words of a window by dynamic time warping (DTW) over the cross-attention of the alignment
// heads, which are the heads that follow the speech. Each token uses the attention of the decoding pass that predicted
// the token, as in openai/whisper.

import { framesPerSecond } from '../audio.ts'
import type { AlignedWord } from './aligned-word.ts'
import { type AttendedBand, attentionIn } from './attention.ts'
import { mergePunctuation } from './punctuation.ts'
import type { Tokenizer } from './tokenizer.ts'
import { startsOf, warp } from './warp.ts'
import { limitLengths } from './word-lengths.ts'

/** The text tokens between two adjacent time tokens of a window. */
export type Segment = {
  ids: readonly number[]
  logProbabilities: readonly number[]
  /**
   * The cross-attention arrays: one for each text token, from the decoding pass that predicted the token, and a last
   * one, from the decoding pass that predicted the end of the segment. Each array is heads × frames.
   */
  attention: readonly Float32Array[]
  /**
   * The time of the segment's first time token (`from`) and of its last time token (`to`), in model frames of the
   * window.
   */
  from: number
  to: number
}

/**
 * A time token marks a time in the window, but this time is not exact. This is the largest error that the alignment
 * tolerates, in model frames. Most errors are smaller (see `timeError`).
 */
const timeErrorMax = 0.3 * framesPerSecond
/** The usual error of the time that a time token gives, in model frames. */
const timeError = 0.1 * framesPerSecond

/**
 * Returns the times of all words of a window. One DTW path goes over all segments. The words of a segment stay between
 * the start and the end of the segment, with a small tolerance. Otherwise a word could get the time of speech that the
 * model left out. The path also matches the end of each segment with the silence before the next segment.
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
 * Limits the start of the segment's first word and the end of its last word to the times of the segment, with a
 * tolerance of `timeError`. Without this limit, these two words would include too much silence.
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
