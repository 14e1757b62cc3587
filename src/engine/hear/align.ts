// Computes word times within a window by dynamic time warping (DTW) over the cross-attention of the alignment heads.
// As in openai/whisper, the attention of a token is the attention of the decoding pass whose output is this token.

import { endsSentence } from '../../transcripts/sentence.ts'
import { framesPerSecond } from '../audio.ts'
import { type AttendedBand, attentionIn } from './attention.ts'
import type { Tokenizer } from './tokenizer.ts'
import { startsOf, warp } from './warp.ts'

export type AlignedWord = {
  text: string
  /** The start and the end, in model frames of the window. */
  from: number
  to: number
  probability: number
}

/** The text tokens between two time tokens. */
export type Segment = {
  ids: readonly number[]
  logProbabilities: readonly number[]
  /**
   * One attention array per token, from the decoding pass that predicts this token. The last array is an additional
   * one: it comes from the decoding pass that predicts the end of the segment. Each array is heads × frames.
   */
  attention: readonly Float32Array[]
  /** The times that the two time tokens mark, in model frames of the window. */
  from: number
  to: number
}

/** The maximum error of a time token, in model frames, that the alignment tolerates. Such a large error is rare. */
const timeErrorMax = 0.3 * framesPerSecond
/** The usual error of a time token, in model frames. */
const timeError = 0.1 * framesPerSecond

/**
 * Returns the times of all words of a window, from one DTW path over all segments. The words of a segment stay within
 * the two time tokens of the segment, so that no word gets the time of speech that the model left out. The end of a
 * segment is aligned too, with the silence before the next segment.
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
 * Limits the start of the first word and the end of the last word to the times of the segment. Without this limit, the
 * DTW path includes too much silence at both ends of a segment.
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
 * The maximum length, in model frames, of a word next to a sentence boundary, unless most words of the window are
 * long. One second: spoken words rarely last longer.
 */
const wordMax = framesPerSecond
const wordMaxInside = 2 * framesPerSecond

/**
 * Shortens words whose times include silence. Next to a sentence boundary, the limit is `wordMax`, or twice the
 * median length of the words if this is more. Inside a sentence, the limit is two seconds, because the time of the
 * word may be the time of speech that the model left out.
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

/** Matches punctuation that is joined to the next word: an opening bracket or quote. */
const opening = /^[\p{Ps}\p{Pi}¿¡"'-]+$/u
/**
 * Matches punctuation that is joined to the previous word, even if a space precedes the punctuation. French writes a
 * space before some punctuation marks. A dash may follow a space in any language.
 */
const closing = /^[!?:;,.…»”’)\]}%–—।॥؟،؛۔、。！？：；」』）】]+$/u

/** Joins an opening quote or bracket to the next word, and all other punctuation to the previous word. */
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
 * Returns `after` if the punctuation is joined to the next word, and `before` if it is joined to the previous word.
 * Returns null if the text is a word.
 */
function sideOf(text: string, hasWordBefore: boolean): 'before' | 'after' | null {
  const bare = text.trim()
  if (bare === '') return hasWordBefore ? 'before' : null
  if (!/^[\p{P}]+$/u.test(bare)) return null
  const spaced = text.startsWith(' ')
  // A quote or a hyphen is an opening one only after a space. An opening bracket needs no space before it.
  if (opening.test(bare) && (spaced || /^[\p{Ps}¿¡]+$/u.test(bare))) return 'after'
  return hasWordBefore && (!spaced || closing.test(bare)) ? 'before' : null
}
