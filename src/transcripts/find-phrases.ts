// Finds the phrases of a query in the text of an utterance.

import { type Phrase, searchWords } from './search-words.ts'

/**
 * A part of a text. `from` is its first position, and `to` is the position after its last character. Positions are
 * counted in UTF-16 code units.
 */
export type Stretch = { from: number; to: number }

/** Returns, for each phrase, how often it occurs in a text. */
export function countPhrases(text: string, phrases: readonly Phrase[]): number[] {
  const words = searchWords(text).map(({ word }) => word)
  return phrases.map(phrase => placesOf(phrase, words).length)
}

/**
 * Returns the parts of a text that match a phrase, in the order of the text. Overlapping matches are joined into one
 * part.
 */
export function findPhrases(text: string, phrases: readonly Phrase[]): Stretch[] {
  const places = searchWords(text)
  const words = places.map(({ word }) => word)
  const marked = words.map(() => false)
  const joined = words.map(() => false)
  for (const phrase of phrases) {
    let end = 0
    for (const at of placesOf(phrase, words)) {
      // The words before `end` are already marked by the match before this one.
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
 * Returns the index of each word at which the phrase starts. Uses the algorithm of Knuth, Morris and Pratt, because a
 * comparison of the whole phrase at each word takes seconds for a long phrase of equal words.
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
 * Returns the borders of the phrase for the algorithm of Knuth, Morris and Pratt. The element n belongs to the first n
 * words of the phrase: it is the length of the longest sequence, shorter than n words, with which these n words both
 * begin and end. The elements 0 and 1 are 0.
 */
function bordersOf(phrase: Phrase): number[] {
  const borders = [0, 0]
  for (const word of phrase.slice(1)) borders.push(extend(phrase, borders, borders.at(-1) ?? 0, word))
  return borders
}

/**
 * Returns the largest number n for which the last n words of the text, up to and including `word`, are the first n
 * words of the phrase. `matched` is this number for the text before `word`.
 */
function extend(phrase: Phrase, borders: readonly number[], matched: number, word: string): number {
  let length = matched
  while (length > 0 && phrase[length] !== word) length = borders[length] ?? 0
  return phrase[length] === word ? length + 1 : 0
}
