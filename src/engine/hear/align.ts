// Computes the times of the words of a window by dynamic time warping (DTW) over the cross-attention of the alignment
// heads, which are the heads that follow the speech. Each token uses the attention of the decoding pass that predicted
// the token, as in openai/whisper.

import { endsSentence } from '../../transcripts/sentence.ts'
import { framesPerSecond } from '../audio.ts'
import { type AttendedBand, attentionIn } from './attention.ts'
import type { Tokenizer } from './tokenizer.ts'
import { startsOf, warp } from './warp.ts'

export type AlignedWord = {
  text: string
  /** The start (`from`) and the end (`to`) of the word, in model frames of the window. */
  from: number
  to: number
  probability: number
}

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

const medianMax = 0.7 * framesPerSecond
/**
 * The usual maximum length of a word next to a sentence boundary, in model frames: one second. Spoken words rarely last
 * longer. If the words of the window are long, `limitLengths` uses a higher maximum, of up to 1.4 s.
 */
const wordMax = framesPerSecond
const wordMaxInside = 2 * framesPerSecond

/**
 * Shortens words whose times include silence. The maximum length is one second, or twice the median length of the words
 * if this is more, but at most 1.4 s. A word next to a sentence boundary is shortened if it is longer than this
 * maximum. A word inside a sentence is shortened only if it is longer than two seconds, because it may include the time
 * of speech that the model left out.
 */
function limitLengths(words: readonly AlignedWord[]): AlignedWord[] {
  const lengths = words.map(({ from, to }) => to - from).filter(length => length > 0)
  const median = lengths.toSorted((one, other) => one - other)[Math.floor(lengths.length / 2)] ?? 0
  const longest = Math.max(2 * Math.min(median, medianMax), wordMax)
  return words.map((word, index) => {
    const length = word.to - word.from
    if (length <= longest) return word
    if (endsSentence(word.text)) return { ...word, to: word.from + longest }
    const before = words[index - 1]
    if (!before || endsSentence(before.text)) return { ...word, from: word.to - longest }
    return length > wordMaxInside ? { ...word, to: word.from + longest } : word
  })
}

/**
 * Matches punctuation that can be joined to the next word, such as an opening bracket, an opening quote or a hyphen.
 */
const opening = /^[\p{Ps}\p{Pi}¿¡"'-]+$/u
/**
 * Matches punctuation that is joined to the previous word, even if a space is between the word and the punctuation.
 * French, for example, has a space before some punctuation marks. A dash may follow a space in any language.
 */
const closing = /^[!?:;,.…»”’)\]}%–—।॥؟،؛۔、。！？：；」』）】]+$/u

/**
 * Joins opening brackets, and quotes and hyphens after a space, to the next word. Joins other punctuation to the
 * previous word, except punctuation after a space that does not match `closing`.
 */
export function mergePunctuation(words: readonly AlignedWord[]): AlignedWord[] {
  const merged: AlignedWord[] = []
  let ahead: AlignedWord | null = null
  for (const word of words) {
    const last = merged.at(-1)
    const side = sideOf(word.text, ahead === null && last !== undefined)
    if (side === 'after') {
      const text: string = (ahead?.text ?? '') + word.text
      ahead = { ...(ahead ?? word), text }
    } else if (side === 'before' && last) {
      last.text += word.text
      if (word.text.trim() !== '') last.to = word.to
    } else {
      merged.push(ahead ? { ...word, text: ahead.text + word.text } : { ...word })
      ahead = null
    }
  }
  if (ahead) merged.push(ahead)
  return merged
}

/**
 * Returns `after` if the text is punctuation that is joined to the next word. Returns `before` if it is punctuation
 * that is joined to the previous word. Returns null if the text becomes a word of its own.
 */
function sideOf(text: string, hasWordBefore: boolean): 'before' | 'after' | null {
  const bare = text.trim()
  if (bare === '') return hasWordBefore ? 'before' : null
  if (!/^[\p{P}]+$/u.test(bare)) return null
  const spaced = text.startsWith(' ')
  // A quote or a hyphen is joined to the next word only if a space precedes it. An opening bracket needs no space
  // before it.
  if (opening.test(bare) && (spaced || /^[\p{Ps}¿¡]+$/u.test(bare))) return 'after'
  return hasWordBefore && (!spaced || closing.test(bare)) ? 'before' : null
}
