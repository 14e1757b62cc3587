// The spans of a recording from which a voice print is made.

import { sampleRate } from '../audio.ts'

/** A span of a recording. `from` and `to` are indices of samples. */
export type SoundSpan = { from: number; to: number }

/**
 * The maximum length, in samples, of the speech from which a voice print (the vector that stands for a person's voice)
 * is computed. More speech hardly changes the print.
 */
const printSamplesMax = 30 * sampleRate
/**
 * The minimum length, in samples, of each span of speech from which a voice print (the vector that stands for a
 * person's voice) is computed.
 */
const spanSamplesMin = 1 * sampleRate

/**
 * Returns the longest spans, in order of time. Spans shorter than `spanSamplesMin` are left out. All spans together
 * have at most `printSamplesMax` samples, so one span may be shortened.
 */
export function longestSpans(spans: readonly SoundSpan[]): SoundSpan[] {
  let left = printSamplesMax
  const chosen: SoundSpan[] = []
  for (const { from, to } of spans.toSorted((one, other) => lengthOf(other) - lengthOf(one))) {
    const end = Math.min(to, from + left)
    if (end - from < spanSamplesMin) break
    chosen.push({ from, to: end })
    left -= end - from
  }
  return chosen.toSorted((one, other) => one.from - other.from)
}

/** Converts spans in seconds to spans in samples. */
export function spansOf(speech: readonly { start: number; end: number }[]): SoundSpan[] {
  return speech.map(({ start, end }) => ({
    from: Math.round(start * sampleRate),
    to: Math.round(end * sampleRate),
  }))
}

export function lengthOf({ from, to }: SoundSpan): number {
  return to - from
}

export function totalOf(spans: readonly SoundSpan[]): number {
  return spans.reduce((sum, span) => sum + lengthOf(span), 0)
}
