// Computes the times of the words in a window (at most 30 s of sound) by dynamic time warping (DTW) over the
// cross-attention of the alignment heads. For each token, these heads attend to the sound in which the token is spoken.

import { framesPerSecond } from '../audio.ts'
import type { AlignedWord } from './aligned-word.ts'
import { type AttendedBand, attentionIn } from './attention.ts'
import { mergePunctuation } from './punctuation.ts'
import type { Span } from './speech-spans.ts'
import type { Tokenizer } from './tokenizer.ts'
import { startsOf, warp } from './warp.ts'

/** A segment: the text tokens of a window from one timestamp token to the next, or to the end of the text. */
export type Segment = {
  ids: readonly number[]
  logProbabilities: readonly number[]
  /**
   * One cross-attention array (heads × frames) for each text token, and one for the token that follows the segment. The
   * last array is used only in the last segment of a window, where it gives the end of the last word.
   */
  attention: readonly Float32Array[]
  /**
   * The times of the timestamp tokens before and after the segment, in model frames (20 ms each). Without such a token:
   * the start or the end of the window.
   */
  from: number
  to: number
}

/** The largest error of a timestamp token that the alignment tolerates: 0.3 s, in model frames of 20 ms. */
const timeErrorMax = 0.3 * framesPerSecond
/** The usual error of a timestamp token: 0.1 s, in model frames of 20 ms. */
const timeError = 0.1 * framesPerSecond

/**
 * Whisper often rounds the time in a timestamp token to a whole second. This is the maximum correction of a token that
 * is therefore too early: 1 s, in model frames of 20 ms.
 */
const roundingMax = framesPerSecond

/**
 * Returns the times of all words of a window. Each segment is the text between two timestamp tokens. Its words stay
 * between the times of these tokens, with a small tolerance. Otherwise a word could get the time of speech for which
 * the model returned no text. `speech` has the stretches of speech in the window, in model frames.
 */
export function wordTimes(
  tokenizer: Tokenizer,
  language: string,
  allSegments: readonly Segment[],
  frames: number,
  speech: readonly Span[] = [],
): AlignedWord[] {
  const segments = withSpeechEnds(withoutTimes(allSegments), speech)
  const within = alignedIn(tokenizer, language, segments, { bands: bandsOf(segments, frames), frames })
  const merged = mergePunctuation(within.flatMap((words, index) => withinTimes(words, segments[index]!)))
  // Wrong timestamp tokens can crowd the words of a segment together at its start or end. In this case, all words of
  // the window are aligned again without the limits of their segments.
  if (!areCrowded(merged, frames)) return merged
  const anywhere = segments.flatMap(({ attention }) =>
    attention.map(attention => ({ begin: 0, end: frames, attention })),
  )
  const free = alignedIn(tokenizer, language, segments, { bands: anywhere, frames })
  return withoutUnspoken(
    mergePunctuation(free.flatMap((words, segment) => words.map(word => ({ ...word, segment })))),
  )
}

/**
 * Clears the texts of segments that are not spoken: at least three words that together last less than 0.1 s. Timestamp
 * tokens did not limit the times of these words, so a wrong timestamp token is not the cause of the short time. The
 * model has invented such a segment, for example as a repetition of the segment before it. The words stay in the list
 * without text, because callers count the words of a window.
 */
function withoutUnspoken(words: readonly (AlignedWord & { segment: number })[]): AlignedWord[] {
  return [...Map.groupBy(words, ({ segment }) => segment).values()].flatMap(said => {
    const length = (said.at(-1)?.to ?? 0) - (said[0]?.from ?? 0)
    const isUnspoken = said.length >= crowd.words && length < crowd.frames
    return said.map(({ segment, ...word }) => (isUnspoken ? { ...word, text: '' } : word))
  })
}

/**
 * Removes the attention of the timestamp token after each segment except the last. This token often attends to the
 * sound of the next word. The alignment would then give the first part of this sound to the token, and the word would
 * start too late. The attention after the last segment is kept: it gives the end of the last word.
 */
function withoutTimes(segments: readonly Segment[]): Segment[] {
  return segments.map((segment, index) =>
    index === segments.length - 1
      ? segment
      : { ...segment, attention: segment.attention.slice(0, segment.ids.length) },
  )
}

/**
 * Corrects the ends of segments. If the timestamp token after a segment lies inside a stretch of speech, the segment
 * ends at the end of this speech instead, but at most `roundingMax` later, and not after the start of the next segment.
 * Words must end near the end of their segment at the latest. Without this correction, the last words of a segment with
 * a too early token could become much too short.
 */
function withSpeechEnds(segments: readonly Segment[], speech: readonly Span[]): Segment[] {
  return segments.map((segment, index) => {
    const { to } = segment
    const around = speech.find(span => span.from < to && to < span.to)
    if (!around) return segment
    const next = segments[index + 1]?.from ?? Number.POSITIVE_INFINITY
    // The end of the speech can lie inside a frame. It is rounded down, because the alignment needs whole frames.
    return { ...segment, to: Math.max(to, Math.min(Math.floor(around.to), next, to + roundingMax)) }
  })
}

/**
 * Returns the words of each segment, with their times. Each token has one attention array. Its values are high for the
 * frames in which the token is probably spoken. `bands` has one entry for each array: the array, and the frames in
 * which its token may lie. Other frames are not considered for this token.
 */
function alignedIn(
  tokenizer: Tokenizer,
  language: string,
  segments: readonly Segment[],
  { bands, frames }: { bands: readonly AttendedBand[]; frames: number },
): AlignedWord[][] {
  const starts = startsOf(warp(attentionIn(bands, frames)))
  let next = 0
  return segments.map(segment => {
    const first = next
    next += segment.attention.length
    return wordsOf(tokenizer.words(segment.ids, language), segment, starts.slice(first, next + 1))
  })
}

/**
 * Words are crowded if `words` adjacent words together last less than `frames` model frames (20 ms each). Their times
 * or their texts must be wrong, because no person says three words in 0.1 s.
 */
const crowd = { words: 3, frames: 0.1 * framesPerSecond }

/**
 * Returns true if three adjacent words together last less than 0.1 s, which shows that timestamp tokens may be wrong.
 * Words in the last second of the sound do not count. The model has usually invented such words after the end of the
 * speech, so their short times do not show that timestamp tokens are wrong.
 */
function areCrowded(words: readonly AlignedWord[], frames: number): boolean {
  return words.some((word, index) => {
    const last = words[index + crowd.words - 1]
    return last !== undefined && last.to - word.from < crowd.frames && last.to < frames - framesPerSecond
  })
}

function bandsOf(segments: readonly Segment[], frames: number): AttendedBand[] {
  const beginOf = ({ from }: Segment) => Math.max(0, from - timeErrorMax)
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
 * Limits the first word of a segment to the start of the segment, and the last word to its end, with a tolerance of
 * `timeError`. Otherwise these two words could include too much silence. A word that lies wholly outside these times
 * stays unchanged.
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
