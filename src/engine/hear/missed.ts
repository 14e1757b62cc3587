// Finds speech for which the model returned no text.

import { sampleRate } from '../audio.ts'
import type { PlacedText } from './place.ts'
import type { Listener } from './speech-model.ts'
import { beginningAt, endingAt, type Span } from './speech-spans.ts'
import { type Window, windowOf } from './windows.ts'

/** The tolerated error of word times, in samples. Speech this near to a word counts as part of the word. */
const slack = 0.5 * sampleRate
/**
 * The minimum length of missed speech in a gap between words, in samples. Voice detection adds padding before and after
 * speech (`speechPad`), and this padding counts as speech here. Less speech is usually a breath, laughter, or an error
 * of the word times.
 */
const shortest = 1.5 * sampleRate

/**
 * Finds the gaps before, between and after the texts. Returns a window for each gap with at least `shortest` samples of
 * speech.
 */
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

/** Warns of speech without text. Used for models that do not decode such speech again. */
export function warnOfMissed(window: Window, texts: readonly PlacedText[], listener: Listener): void {
  for (const missed of missedSpeech(window, texts)) listener.onWarning('speech without text', missed)
}
