// Which language is spoken: every window of speech has a vote, so that a foreign greeting at the start decides
// nothing.

import type { Decoder } from './decoder.ts'
import type { Whisper } from './whisper.ts'
import type { Window } from './windows.ts'

/** More windows than this would cost time and change nothing. */
const votersMax = 8

export function detect(
  { whisper: { facts }, decoder }: { whisper: Whisper; decoder: Decoder },
  states: Float32Array,
  windows: readonly Window[],
): string {
  if (facts.languages.size === 0) return 'en'
  const rows = Math.min(votersMax, windows.length)
  const batch = decoder.begin(states, rows, [facts.start])
  const ballots = Array.from({ length: rows }, (_, row) => ({
    odds: oddsOf(batch.logits(row), facts.languages),
    weight: windows[row]!.samples,
  }))
  batch.close()
  return elect(ballots)
}

export type Ballot = { odds: Map<string, number>; weight: number }

/** The language with most sound behind it: each window gives its length to what it finds likeliest. */
export function elect(ballots: readonly Ballot[]): string {
  const votes = new Map<string, number>()
  for (const { odds, weight } of ballots) {
    const [code, probability] = [...odds].reduce((best, each) => (each[1] > best[1] ? each : best))
    // A sure window counts for more than one that wavers between neighbours.
    votes.set(code, (votes.get(code) ?? 0) + weight * probability)
  }
  return [...votes].reduce((best, each) => (each[1] > best[1] ? each : best))[0]
}

function oddsOf(scores: Float32Array, languages: ReadonlyMap<string, number>): Map<string, number> {
  const top = Math.max(...[...languages.values()].map(id => scores[id]!))
  const weights = [...languages].map(([code, id]) => [code, Math.exp(scores[id]! - top)] as const)
  const total = weights.reduce((sum, [, each]) => sum + each, 0)
  return new Map(weights.map(([code, each]) => [code, each / total]))
}
