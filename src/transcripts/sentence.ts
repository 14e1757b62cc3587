// Finds the ends of sentences in a text, in any writing system.

/**
 * Matches a mark that ends a sentence: Unicode's sentence terminals, the ellipsis, the Tibetan shad and the Greek
 * question mark. A semicolon after a Greek letter is also a question mark. The Burmese mark `၊` is excluded, because it
 * separates phrases.
 */
const mark = '(?:(?!၊)[\\p{Sentence_Terminal}…\u037e།༎]|(?<=\\p{Script=Greek});)'
/**
 * Matches a closing quotation mark or bracket. This includes `“`, `‘` and `«`, which close a quotation in some
 * languages.
 */
const closing = '[\\p{Pe}\\p{Pf}"\'“‘«]'

const sentenceEnd = new RegExp(`${mark}${closing}*\\s*$`, 'u')
/**
 * Matches an abbreviation such as `Dr.` at the end of a text: its period ends no sentence. Single letters, and numbers
 * of one or two digits, count too: in German, `3.` means `3rd`. A Korean or Chinese character is a word or a syllable,
 * so it does not count.
 */
const abbreviation =
  /(?:^|[\s\p{Ps}\p{Pi}"'¿¡])(?:(?![\p{sc=Hangul}\p{sc=Han}])\p{L}|\d{1,2}|Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|bzw|usw|Nr|Hr|Fr|Sra|Ud|Mme|Mlle)\.\s*$/iu

/** Returns true if a sentence ends at the end of `text`. */
export function endsSentence(text: string): boolean {
  return sentenceEnd.test(text) && !abbreviation.test(text)
}
