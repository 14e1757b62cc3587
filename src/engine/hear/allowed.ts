// Whisper's rules for the next token of a text: which tokens are never allowed, and when a timestamp token is allowed.

import { framesPerSecond } from '../audio.ts'
import type { Facts } from './facts.ts'

/**
 * The latest time that the first timestamp token of a window may have: 50 × 0.02 s = 1 s. A window begins with speech,
 * so its first segment begins early.
 */
const firstTimestampMax = 50

/**
 * Two adjacent timestamp tokens end one segment and begin the next. If at least this much sound (1.5 s) follows them,
 * the end token is not allowed directly after them. Whisper was trained with windows that could end in the middle of a
 * sentence. It learned to write no text for such a sentence, only the timestamp token of its start, and then the end
 * token. In steno, windows end at pauses, so the last sentence is usually complete and must have text.
 */
const restMin = 1.5 * framesPerSecond

export type Rules = { facts: Facts; suppressed: Set<number>; timestamps: boolean }

/**
 * `tokens` has the text tokens and timestamp tokens that were decoded for a window so far. `frames` is the length of
 * the sound in this window, in model frames of 0.02 s.
 */
export type History = { tokens: readonly number[]; frames: number }

export function rulesOf(facts: Facts, timestamps: boolean): Rules {
  const specials = [facts.noTimestamps, facts.noSpeech, facts.start].filter(id => id !== null)
  return { facts, suppressed: new Set([...facts.suppressed, ...specials]), timestamps }
}

/** A range of token ids, from `from` (inclusive) to `to` (exclusive). */
export type Range = { from: number; to: number }

/**
 * The ranges of text tokens, of the end token, and of timestamp tokens that may come next. An empty range allows none.
 */
type Allowed = { text: Range; end: Range; times: Range }

/**
 * Returns the tokens that may come next. If timestamp tokens are wanted, a segment begins with one, and ends with one
 * or with the end token. Times never decrease.
 */
export function allowedAfter({ tokens, frames }: History, { facts, timestamps }: Rules): Allowed {
  const { end, firstTimestamp: first, vocabulary } = facts
  const none = { from: 0, to: 0 }
  // The ids between the end token and the first timestamp token belong to special tokens. Special tokens are never
  // chosen.
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
