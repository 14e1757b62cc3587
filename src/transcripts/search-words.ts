// Divides texts and queries into the words that a search compares. A search ignores the differences between upper and
// lower case, between letters with and without an accent, and between full-width and half-width characters. In scripts
// without spaces, such as Chinese, each character is a word.

/** A word in the form of the search index. `from` and `to` are its position in the text, in UTF-16 code units. */
type SearchWord = { word: string; from: number; to: number }

/**
 * A part of a text. `from` is its first position, and `to` is the position after its last character. Positions are
 * counted in UTF-16 code units.
 */
export type Stretch = { from: number; to: number }

const unspaced =
  '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Mymr}\\p{scx=Tibt}'
const pattern = new RegExp(
  `(?=[\\p{L}\\p{N}])[${unspaced}]\\p{M}*|(?:(?![${unspaced}])[\\p{L}\\p{N}\\p{M}])+`,
  'gu',
)

/**
 * Matches the accents of European scripts, and the vowel points of Hebrew and Arabic. A search ignores all these marks.
 */
const accents = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g

function searchWords(text: string): SearchWord[] {
  const words: SearchWord[] = []
  for (const { 0: found, index } of text.matchAll(pattern)) {
    const word = folded(found)
    if (word !== '') words.push({ word, from: index, to: index + found.length })
  }
  return words
}

function folded(word: string): string {
  // Most words are ASCII and need no normalisation, so this test makes the function faster.
  if (/^\w+$/.test(word)) return word.toLowerCase()
  return word
    .normalize('NFKD')
    .replace(accents, '')
    .toLowerCase()
    .normalize('NFC')
    .replaceAll('ß', 'ss')
    .replaceAll('ς', 'σ')
    .replace(/[^\p{L}\p{N}\p{M}]/gu, '')
}

/** Returns the words of an utterance for the search index. */
export function indexedWords(text: string): string[] {
  return searchWords(text).map(({ word }) => word)
}

/** A phrase of a query: one or more words that must directly follow each other in the text. */
export type Phrase = readonly string[]

/**
 * Divides a query into phrases. A text in quotation marks is one phrase. Outside quotation marks, each part between
 * spaces is one phrase. Inside a phrase, any character that is neither a letter nor a digit separates two words. A
 * repeated phrase is returned once.
 */
export function phrasesOf(query: string): Phrase[] {
  const phrases = new Map<string, Phrase>()
  for (const [part] of query.matchAll(/["“”„][^"“”„]*["“”]?|[^\s"“”„]+/g)) {
    const words = searchWords(part).map(({ word }) => word)
    if (words.length > 0) phrases.set(words.join(' '), words)
  }
  return [...phrases.values()]
}

/** Returns, for each phrase, how often it occurs in a text. */
export function countPhrases(text: string, phrases: readonly Phrase[]): number[] {
  const words = searchWords(text)
  return phrases.map(phrase => words.filter((_, at) => isAt(words, at, phrase)).length)
}

/**
 * Returns the parts of a text that match a phrase, in the order of the text. Overlapping matches are joined into one
 * part.
 */
export function findPhrases(text: string, phrases: readonly Phrase[]): Stretch[] {
  const words = searchWords(text)
  const marked = words.map(() => false)
  const joined = words.slice(1).map(() => false)
  for (const phrase of phrases)
    for (let at = 0; at + phrase.length <= words.length; at++) {
      if (!isAt(words, at, phrase)) continue
      marked.fill(true, at, at + phrase.length)
      joined.fill(true, at, at + phrase.length - 1)
    }
  const found: Stretch[] = []
  for (const [index, { from, to }] of words.entries()) {
    const last = found.at(-1)
    if (!marked[index]) continue
    if (last && joined[index - 1]) last.to = to
    else found.push({ from, to })
  }
  return found
}

function isAt(words: readonly SearchWord[], at: number, phrase: Phrase): boolean {
  return phrase.every((word, offset) => words[at + offset]?.word === word)
}
