// Speech that voice detection found and the model gave no text for: the transcript is never cut short silently.

import { sampleRate } from '../audio.ts'
import type { PlacedText } from './place.ts'
import { beginningAt, endingAt, type Span } from './speech-spans.ts'
import { sampleOf, type Window, windowOf } from './windows.ts'

/** The error of a word's start and end. */
const slack = 0.5 * sampleRate
/** Shorter gaps are breath, laughter or inexact times. */
const shortest = 1.5 * sampleRate

/** Windows over the speech that no text covers. */
export function missedSpeech(window: Window, texts: readonly PlacedText[]): Window[] {
  const gaps: Span[] = []
  let covered = Number.NEGATIVE_INFINITY
  for (const { from, to } of texts) {
    gaps.push({ from: covered, to: from })
    covered = Math.max(covered, to)
  }
  gaps.push({ from: covered, to: Number.POSITIVE_INFINITY })
  return gaps.flatMap(gap => {
    const inside = { from: gap.from + slack, to: gap.to - slack }
    const speech = window.speech
      .map(span => endingAt(beginningAt(span, inside.from), inside.to))
      .filter(({ from, to }) => from < to)
    const length = speech.reduce((sum, { from, to }) => sum + to - from, 0)
    return length >= shortest ? [windowOf(speech)] : []
  })
}

/** Less speech than this is the end of the last word. */
const restMin = 0.4 * sampleRate

/** A window over the speech from a frame on; null when hardly any is left. */
export function restOf(window: Window, frame: number): Window | null {
  const begin = sampleOf(window, frame)
  const speech = window.speech
    .map(span => beginningAt(span, begin))
    .filter(({ voice }) => voice.to > voice.from)
  const length = speech.reduce((sum, { voice }) => sum + voice.to - voice.from, 0)
  return length >= restMin ? windowOf(speech) : null
}
