// Finds the part of a window (at most 30 s of sound) that must be decoded again because its text is missing, incomplete
// or improbable. The timestamp tokens in the text of the window show where this part begins.

import { framesPerSecond } from '../audio.ts'
import { guards } from './guard.ts'
import type { Hypothesis, Unfinished } from './hypothesis.ts'

/**
 * The maximum total length, in model frames (20 ms each), of two parts at the end of a window: the last sentence with a
 * complete text, and the speech after it, which has no text yet. Up to this length, both parts are decoded again
 * together, because the model makes more errors in short windows. Otherwise only the speech without text is decoded
 * again.
 */
export const restFramesMax = 15 * framesPerSecond
/**
 * The minimum distance from the start of a window to the part that is decoded again, in model frames (20 ms each).
 * Without a minimum, the same sound might be decoded again without end.
 */
export const progressMin = 0.5 * framesPerSecond

/**
 * Called when the model has ended the text of a window. Returns the part of the window whose text is still missing or
 * improbable, so that it must be decoded again, or null if there is none.
 */
export function unfinishedAtEnd(
  { tokens, logProbabilities, frames }: Hypothesis,
  firstTimestamp: number,
): Unfinished | null {
  const rest = pairAt(tokens, tokens.length - 2, firstTimestamp)
  if (rest === null) {
    // The model ends a text with a pair of timestamp tokens if more speech follows: the end of a sentence, and the
    // start of the next. This text does not end with such a pair. An earlier pair marks the end of the last complete
    // sentence. If the text after this pair is improbable, its speech is decoded again. A pair near the start of the
    // window is ignored, because nearly the whole window would be decoded again.
    const last = unfinishedAtLimit(tokens, firstTimestamp)
    return last && meanOf(logProbabilities.slice(last.tokens)) < guards.logProbabilityMin ? last : null
  }
  // The text ends with two timestamp tokens. The second one is the start of a next sentence, whose text is missing. So
  // more speech follows the last sentence. The last sentence is decoded again together with this speech, if both
  // together are at most `restFramesMax` long.
  const before = tokens.findLastIndex((id, index) => id >= firstTimestamp && index < tokens.length - 2)
  const sentence = before > 0 ? pairAt(tokens, before - 1, firstTimestamp) : null
  return sentence !== null && frames - sentence.frame <= restFramesMax ? sentence : rest
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/**
 * Returns the part of the window after the last complete sentence of the text, for example if the text was cut off at
 * the maximum number of tokens. Two adjacent timestamp tokens show where a sentence ends and the next begins. Returns
 * null if the text has no two such tokens, or only near the start of the window.
 */
export function unfinishedAtLimit(tokens: readonly number[], firstTimestamp: number): Unfinished | null {
  for (let index = tokens.length - 2; index > 0; index--) {
    const rest = pairAt(tokens, index, firstTimestamp)
    if (rest !== null) return rest
  }
  return null
}

/**
 * Looks for two timestamp tokens, at `index` and `index + 1`: the end of a sentence, and the start of the next part of
 * the window. Returns this part, or null if one of the two is not a timestamp token. Also returns null if the part
 * begins before frame `progressMin`.
 */
function pairAt(tokens: readonly number[], index: number, firstTimestamp: number): Unfinished | null {
  const [before = 0, after = 0] = tokens.slice(Math.max(0, index), index + 2)
  const frame = after - firstTimestamp
  return before >= firstTimestamp && frame >= progressMin ? { tokens: index + 1, frame } : null
}
