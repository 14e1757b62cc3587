// Finds speech for which the model returned no text, so that no speech is lost without a warning.

import { sampleRate } from '../audio.ts'
import type { PlacedText } from './place.ts'
import { beginningAt, endingAt, type Span } from './speech-spans.ts'
import { sampleOf, type Window, windowOf } from './windows.ts'

/** The error of word times. */
const slack = 0.5 * sampleRate
/** The shortest speech that counts as missed. Less is breath, laughter or an error of word times. */
const shortest = 1.5 * sampleRate

/** Returns windows over the speech that no text covers. */
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

/** The shortest speech that is decoded again. Less is the end of the last word. */
const restMin = 0.4 * sampleRate

/** Returns a window over the speech after a frame, or null when less than the minimum is left. */
export function restOf(window: Window, frame: number): Window | null {
  const begin = sampleOf(window, frame)
  const speech = window.speech
    .map(span => beginningAt(span, begin))
    .filter(({ voice }) => voice.to > voice.from)
  const length = speech.reduce((sum, { voice }) => sum + voice.to - voice.from, 0)
  return length >= restMin ? windowOf(speech) : null
}
