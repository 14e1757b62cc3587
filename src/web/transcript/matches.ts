// Finds the places of a text in a transcript, and replaces the text at these places.

import { type Place, tidied, type Utterance } from './document.ts'
import type { Spot } from './place-order.ts'

type Exactness = { isWhole: boolean; isCased: boolean }

/**
 * Returns a pattern that finds the text `asked`, or null if `asked` is empty. With `isWhole`, the pattern finds only
 * whole words. With `isCased`, upper and lower case differ.
 */
export function patternOf(asked: string, { isWhole, isCased }: Exactness): RegExp | null {
  if (asked === '') return null
  const escaped = asked.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  const pattern = isWhole ? `(?<![\\p{L}\\p{N}\\p{M}])${escaped}(?![\\p{L}\\p{N}\\p{M}])` : escaped
  return new RegExp(pattern, isCased ? 'gu' : 'giu')
}

export function placesOf(utterances: readonly Utterance[], pattern: RegExp): Place[] {
  return utterances.flatMap(({ text }, utterance) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
      utterance,
      from: index,
      to: index + found.length,
    })),
  )
}

/**
 * Replaces the text at each place. Returns the new text of each changed utterance, with single spaces and without
 * spaces at both ends.
 */
export function replaced(
  utterances: readonly Utterance[],
  places: readonly Place[],
  replacement: string,
): { utterance: number; text: string }[] {
  const texts = new Map<number, string>()
  // A replacement moves all text after its place, so the last place is replaced first.
  for (const { utterance, from, to } of places.toReversed()) {
    const before = texts.get(utterance) ?? utterances[utterance]?.text ?? ''
    texts.set(utterance, before.slice(0, from) + replacement + before.slice(to))
  }
  return [...texts].map(([utterance, text]) => ({ utterance, text: tidied(text) }))
}

/** Returns the spot at which the text of the replacement ends, in the new text of the utterance. */
export function endOfReplacement(
  utterances: readonly Utterance[],
  { utterance, from }: Place,
  replacement: string,
): Spot {
  const before = utterances[utterance]?.text.slice(0, from) ?? ''
  return { utterance, from: tidied(before + replacement).length }
}
