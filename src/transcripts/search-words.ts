// Divides texts and queries into the words that a search compares. A search ignores upper and lower case, accents, and
// the width of full-width and half-width characters. In scripts without spaces, such as Chinese, each character is a
// word.

/** A word in the form of the search index. `from` and `to` are its position in the text, in UTF-16 code units. */
type SearchWord = { word: string; from: number; to: number }

const unspaced =
  '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Mymr}\\p{scx=Tibt}'

/**
 * The marks that belong to the character before them: all characters of the Unicode category M (marks), and the two
 * voicing marks of half-width kana. Unicode counts these two marks as letters, so the category M does not contain them.
 */
const marks = '\\p{M}\\uff9e\\uff9f'
const pattern = new RegExp(
  `(?=[\\p{L}\\p{N}])[${unspaced}][${marks}]*|(?:(?![${unspaced}])[\\p{L}\\p{N}\\p{M}])+`,
  'gu',
)

/**
 * Matches the accents of European scripts, and the vowel points of Hebrew and Arabic. A search ignores all these marks.
 */
const accents = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g

/**
 * The letters that become other letters in the search index. In capitals, ß and ss are both SS, ς and σ are both Σ, and
 * ı and i are both I. So ß becomes ss, ς becomes σ, and ı becomes i. A search then finds a word in capitals and in
 * small letters. The other letters have a stroke, which `normalize` does not separate from the letter.
 */
const plainLetters: Record<string, string> = {
  ß: 'ss',
  ς: 'σ',
  ı: 'i',
  đ: 'd',
  ħ: 'h',
  ł: 'l',
  ø: 'o',
  ŧ: 't',
}

/** Returns the words of a text with their positions. */
export function searchWords(text: string): SearchWord[] {
  const words: SearchWord[] = []
  for (const { 0: found, index } of text.matchAll(pattern)) {
    const word = folded(found)
    if (word !== '') words.push({ word, from: index, to: index + found.length })
  }
  return words
}

function folded(word: string): string {
  // A word of ASCII letters and digits needs no normalisation. This test saves time for most texts in Latin letters.
  if (/^\w+$/.test(word)) return word.toLowerCase()
  return word
    .normalize('NFKD')
    .replace(accents, '')
    .toLowerCase()
    .normalize('NFC')
    .replace(/[ßςıđħłøŧ]/g, letter => plainLetters[letter] ?? letter)
    .replace(/[^\p{L}\p{N}\p{M}]/gu, '')
}

/** Returns the words of an utterance for the search index. */
export function indexedWords(text: string): string[] {
  return searchWords(text).map(({ word }) => word)
}

/** A phrase of a query: one or more words that must directly follow each other in the text. */
export type Phrase = readonly string[]

/**
 * Divides a query into phrases. A text in quotation marks is one phrase. Outside quotation marks, spaces separate
 * phrases. Inside a phrase, characters such as a hyphen separate words. A repeated phrase is returned once.
 */
export function phrasesOf(query: string): Phrase[] {
  const phrases = new Map<string, Phrase>()
  for (const [part] of query.matchAll(/["“”„][^"“”„]*["“”]?|[^\s"“”„]+/g)) {
    const words = searchWords(part).map(({ word }) => word)
    if (words.length > 0) phrases.set(words.join(' '), words)
  }
  return [...phrases.values()]
}
