// Whisper's rules for the next token of a text: which tokens are never allowed, and when a timestamp token is allowed.

import { framesPerSecond } from '../audio.ts'
import type { Facts } from './facts.ts'

/**
 * The latest time of the first timestamp token of a window: 50 × 0.02 s = 1 s. The first segment begins early, because
 * a window begins with speech.
 */
const firstTimestampMax = 50

/**
 * A segment, except the first one, must have text if at least this much sound (1.5 s) follows its start: the end token
 * is then not allowed. Whisper learned to write no text for a sentence that the end of a window cuts off. But windows
 * of steno end at pauses, so their last sentence is usually complete.
 */
const restMin = 1.5 * framesPerSecond

export type Rules = { facts: Facts; suppressed: Set<number>; timestamps: boolean }

/**
 * `tokens` are the text and timestamp tokens decoded so far. `frames` is the length of the sound in the window, in
 * model frames of 0.02 s.
 */
export type History = { tokens: readonly number[]; frames: number }

export function rulesOf(facts: Facts, timestamps: boolean): Rules {
  const specials = [facts.noTimestamps, facts.noSpeech, facts.start].filter(id => id !== null)
  return { facts, suppressed: new Set([...facts.suppressed, ...specials]), timestamps }
}

/** A range of token ids, from `from` (inclusive) to `to` (exclusive). */
export type Range = { from: number; to: number }

/** The ranges of text tokens, of the end token, and of timestamp tokens that may come next. A range may be empty. */
type Allowed = { text: Range; end: Range; times: Range }

/**
 * Returns the tokens that may come next. With `timestamps`, each segment begins with a timestamp token, and ends with a
 * timestamp token or the end token. Times never decrease.
 */
export function allowedAfter({ tokens, frames }: History, { facts, timestamps }: Rules): Allowed {
  const { end, firstTimestamp: first, vocabulary } = facts
  const none = { from: 0, to: 0 }
  // The ids between the end token and the first timestamp token are special tokens, which are never chosen.
  const text = { from: 0, to: Math.min(end, first) }
  const stop = { from: end, to: end + 1 }
  if (!timestamps) return { text, end: stop, times: none }
  const to = Math.min(vocabulary, first + frames + 1)
  const last = tokens.at(-1)
  if (last === undefined) {
    const times = { from: first, to: Math.min(to, first + firstTimestampMax + 1) }
    return { text: none, end: none, times }
  }
  if (last < first) {
    const latest = tokens.findLast(id => id >= first)
    return { text, end: stop, times: { from: latest === undefined ? first : latest + 1, to } }
  }
  const opens = (tokens.at(-2) ?? first) >= first
  if (!opens) return { text: none, end: stop, times: { from: last, to } }
  const mustGoOn = tokens.length > 1 && first + frames - last >= restMin
  return { text, end: mustGoOn ? none : stop, times: none }
}
