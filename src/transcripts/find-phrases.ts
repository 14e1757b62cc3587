// Finds the phrases of a query in the text of an utterance.

import { type Phrase, searchWords } from './search-words.ts'

/** A part of a text. `from` is its first position, and `to` is the position after its end, in UTF-16 code units. */
export type Stretch = { from: number; to: number }

/** Returns, for each phrase, how often it occurs in a text. */
export function countPhrases(text: string, phrases: readonly Phrase[]): number[] {
  const words = searchWords(text).map(({ word }) => word)
  return phrases.map(phrase => placesOf(phrase, words).length)
}

/** Returns the parts of a text that match a phrase, in the order of the text. Overlapping matches become one part. */
export function findPhrases(text: string, phrases: readonly Phrase[]): Stretch[] {
  const places = searchWords(text)
  const words = places.map(({ word }) => word)
  const marked = words.map(() => false)
  const joined = words.map(() => false)
  for (const phrase of phrases) {
    let end = 0
    for (const at of placesOf(phrase, words)) {
      // The previous match has already marked the words before `end`.
      marked.fill(true, Math.max(at, end), at + phrase.length)
      joined.fill(true, Math.max(at, end - 1), at + phrase.length - 1)
      end = at + phrase.length
    }
  }
  const found: Stretch[] = []
  for (const [index, { from, to }] of places.entries()) {
    const last = found.at(-1)
    if (!marked[index]) continue
    if (last && joined[index - 1]) last.to = to
    else found.push({ from, to })
  }
  return found
}

/**
 * Returns the index of each word at which the phrase starts, by the Knuth-Morris-Pratt algorithm. A simple comparison
 * at each word takes seconds for a long phrase of equal words.
 */
function placesOf(phrase: Phrase, words: readonly string[]): number[] {
  const borders = bordersOf(phrase)
  const places: number[] = []
  let matched = 0
  for (let index = 0; index < words.length; index++) {
    matched = extend(phrase, borders, matched, words[index] ?? '')
    if (matched === phrase.length) places.push(index + 1 - matched)
  }
  return places
}

/**
 * Returns the prefix function of the phrase for the Knuth-Morris-Pratt algorithm. Element n is the length of the
 * longest border of the first n words. A border is a shorter sequence with which these words both begin and end.
 */
function bordersOf(phrase: Phrase): number[] {
  const borders = [0, 0]
  for (const word of phrase.slice(1)) borders.push(extend(phrase, borders, borders.at(-1) ?? 0, word))
  return borders
}

/**
 * Returns the length of the longest start of the phrase that ends at `word` in the text. `matched` is this length for
 * the previous word.
 */
function extend(phrase: Phrase, borders: readonly number[], matched: number, word: string): number {
  let length = matched
  while (length > 0 && phrase[length] !== word) length = borders[length] ?? 0
  return phrase[length] === word ? length + 1 : 0
}
