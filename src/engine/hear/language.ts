// Detects the language of a recording. Several windows (at most 30 s of sound each) vote, so a greeting in another
// language does not decide the result.

import type { EncodedWindow } from './network.ts'
import type { Whisper } from './whisper.ts'
import type { Window } from './windows.ts'

/** The maximum number of windows that vote on the language. More windows would seldom change the result. */
const votersMax = 8

/** The probability of each language, by its code. */
export type Odds = Map<string, number>

export function detect(
  whisper: Whisper,
  encoded: readonly EncodedWindow[],
  windows: readonly Window[],
): string {
  if (whisper.facts.languages.size === 0) return 'en'
  return languageBy(oddsIn(whisper, encoded.slice(0, votersMax)), windows)
}

/**
 * Detects the language of a recording. The given function `oddsOfAll` computes the probability of each language in each
 * window. `oddsOfAll` may put windows of several recordings into the same batch.
 */
export async function detectJointly(
  { facts }: Whisper,
  encoded: readonly EncodedWindow[],
  windows: readonly Window[],
  oddsOfAll: (encoded: readonly EncodedWindow[]) => Promise<Odds[]>,
): Promise<string> {
  if (facts.languages.size === 0) return 'en'
  return languageBy(await oddsOfAll(encoded.slice(0, votersMax)), windows)
}

/** Computes the probabilities of the languages in each window, in one batch. */
export function oddsIn({ facts, decoder }: Whisper, encoded: readonly EncodedWindow[]): Odds[] {
  const batch = decoder.begin(encoded, [facts.start])
  try {
    return encoded.map((_, row) => oddsOf(batch.logits(row), facts.languages))
  } finally {
    batch.close()
  }
}

function languageBy(odds: readonly Odds[], windows: readonly Window[]): string {
  return elect(odds.map((odds, index) => ({ odds, weight: windows[index]?.samples ?? 0 })))
}

export type Vote = { odds: Odds; weight: number }

/**
 * Returns the language with the highest sum of votes. Each window votes for its most probable language. The vote is the
 * probability of this language times the length of the window.
 */
export function elect(votes: readonly Vote[]): string {
  const sums = new Map<string, number>()
  for (const { odds, weight } of votes) {
    const [code, probability] = likeliest(odds)
    sums.set(code, (sums.get(code) ?? 0) + weight * probability)
  }
  return likeliest(sums)[0]
}

function likeliest(languages: ReadonlyMap<string, number>): [string, number] {
  return [...languages].reduce((best, language) => (language[1] > best[1] ? language : best))
}

function oddsOf(scores: Float32Array, languages: ReadonlyMap<string, number>): Odds {
  const known = [...languages].map(([code, id]) => ({ code, score: scores[id] ?? Number.NEGATIVE_INFINITY }))
  const top = Math.max(...known.map(({ score }) => score))
  const weights = known.map(({ code, score }) => ({ code, weight: Math.exp(score - top) }))
  const total = weights.reduce((sum, { weight }) => sum + weight, 0)
  return new Map(weights.map(({ code, weight }) => [code, weight / total]))
}
