// Finds the part of a window that must be decoded again. The timestamp tokens in the text of the window show where this
// part begins.

import { framesPerSecond } from '../audio.ts'
import { guards } from './guard.ts'
import type { Hypothesis, Unfinished } from './hypothesis.ts'

/**
 * The maximum length, in model frames (20 ms each), of the last sentence of a text together with the speech after it.
 * The sentence is decoded again with this speech, because the model makes more errors in short windows. If both
 * together are longer, only the speech after the sentence is decoded again.
 */
export const restFramesMax = 15 * framesPerSecond
/**
 * The minimum distance from the start of a window to the part that is decoded again, in model frames (20 ms each). If
 * this part could begin at the start of the window, the same sound might be decoded again without end.
 */
export const progressMin = 0.5 * framesPerSecond

/**
 * Called when the model has returned the end token. Returns the part of the window that must be decoded again. Returns
 * null if there is no such part.
 *
 * If the text ends with two timestamp tokens, there is more speech after the text. This speech is decoded again,
 * together with the last sentence of the text, because the model makes more errors in short windows. If both together
 * are too long, or if this sentence begins near the start of the window, only the speech after the text is decoded
 * again.
 *
 * If the text ends in another way, the text after the last two adjacent timestamp tokens is checked. If this text is
 * improbable, the part of the window after these tokens is decoded again.
 */
export function unfinishedAtEnd(
  { tokens, logProbabilities, frames }: Hypothesis,
  firstTimestamp: number,
): Unfinished | null {
  const rest = pairAt(tokens, tokens.length - 2, firstTimestamp)
  if (rest === null) {
    const last = unfinishedAtLimit(tokens, firstTimestamp)
    return last && meanOf(logProbabilities.slice(last.tokens)) < guards.logProbabilityMin ? last : null
  }
  const before = tokens.findLastIndex((id, index) => id >= firstTimestamp && index < tokens.length - 2)
  const sentence = before > 0 ? pairAt(tokens, before - 1, firstTimestamp) : null
  return sentence !== null && frames - sentence.frame <= restFramesMax ? sentence : rest
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/**
 * Returns the part of the window after the last complete sentence of the text. Two adjacent timestamp tokens show where
 * one sentence ends and the next begins. Returns null if the text has no such place, or only near the start of the
 * window. If a text was cut off at the maximum number of tokens, its last sentence is incomplete, so the returned part
 * must be decoded again.
 */
export function unfinishedAtLimit(tokens: readonly number[], firstTimestamp: number): Unfinished | null {
  for (let index = tokens.length - 2; index > 0; index--) {
    const rest = pairAt(tokens, index, firstTimestamp)
    if (rest !== null) return rest
  }
  return null
}

/**
 * Looks for two timestamp tokens, at `index` and `index + 1`. The first one ends a sentence, and the second one gives
 * the time at which the next part of the window begins. Returns this part: the number of tokens before it, and its
 * first frame. Returns null if one of the two is not a timestamp token, or if the part begins before frame
 * `progressMin`.
 */
function pairAt(tokens: readonly number[], index: number, firstTimestamp: number): Unfinished | null {
  const [before = 0, after = 0] = tokens.slice(Math.max(0, index), index + 2)
  const frame = after - firstTimestamp
  return before >= firstTimestamp && frame >= progressMin ? { tokens: index + 1, frame } : null
}
