// Speech that voice detection heard and the model gave no text for: never a silent truncation.

import type { Said } from '../assemble.ts'
import { sampleRate } from '../audio.ts'
import type { Span } from './segments.ts'
import { type Window, windowOf } from './windows.ts'

/** Words may begin and end this far from where the attention puts them. */
const slack = 0.5 * sampleRate
/** Shorter gaps are breath, laughter, or times that are a little off. */
const shortest = 1.5 * sampleRate

/** Windows over what no word covers. */
export function missedSpeech(window: Window, said: readonly Said[]): Window[] {
  const gaps: Span[] = []
  let covered = Number.NEGATIVE_INFINITY
  for (const { from, to } of [...said, { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY }]) {
    gaps.push({ from: covered, to: from })
    covered = Math.max(covered, to)
  }
  return gaps.flatMap(gap => {
    const edge = { from: gap.from + slack, to: gap.to - slack }
    const spans = window.speech
      .map(({ from, to }) => ({ from: Math.max(from, edge.from), to: Math.min(to, edge.to) }))
      .filter(({ from, to }) => from < to)
    const length = spans.reduce((sum, { from, to }) => sum + to - from, 0)
    return length >= shortest ? [windowOf(spans)] : []
  })
}
