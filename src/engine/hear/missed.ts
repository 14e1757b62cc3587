// Finds speech for which the model returned no text. Such speech is decoded again, or reported in a warning.

import { sampleRate } from '../audio.ts'
import type { PlacedText } from './place.ts'
import { beginningAt, endingAt, type Span } from './speech-spans.ts'
import { type Window, windowOf } from './windows.ts'

/** The tolerated error of word times, in samples. Speech this close to a word counts as covered by the word. */
const slack = 0.5 * sampleRate
/**
 * The shortest speech, in samples, that counts as missed. A shorter gap is usually a breath, laughter, or an error of
 * word times.
 */
const shortest = 1.5 * sampleRate

/** Returns windows over the speech spans that no text covers. */
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

/** The shortest speech, in samples, that is decoded again. A shorter rest usually belongs to the last word. */
const restMin = 0.4 * sampleRate

/**
 * Returns a window over the speech after sample `begin` of the recording. Returns null if this speech is shorter than
 * `restMin`.
 */
export function restOf(window: Window, begin: number): Window | null {
  const speech = window.speech
    .map(span => beginningAt(span, begin))
    .filter(({ voice }) => voice.to > voice.from)
  const length = speech.reduce((sum, { voice }) => sum + voice.to - voice.from, 0)
  return length >= restMin ? windowOf(speech) : null
}
