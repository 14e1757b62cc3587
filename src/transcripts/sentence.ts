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
 * of one or two digits, count too: in German, `3.` means `3rd`.
 */
const abbreviation =
  /(?:^|[\s\p{Ps}\p{Pi}"'¿¡])(?:\p{L}|\d{1,2}|Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|bzw|usw|Nr|Hr|Fr|Sra|Ud|Mme|Mlle)\.\s*$/iu

/** Returns true if a sentence ends at the end of `text`. */
export function endsSentence(text: string): boolean {
  return sentenceEnd.test(text) && !abbreviation.test(text)
}

/**
 * Matches a mark that also occurs inside words and numbers, such as the period in `3.5`. Inside a text, such a mark
 * ends a sentence only before white space. Closing marks may stand before the white space.
 */
const insideWords = '[.!?…]'
/**
 * Matches a closing bracket or quotation mark, or a straight quotation mark. Directly after the end of a sentence, such
 * a character belongs to this sentence. `“` is not matched, because it may open the next sentence in Chinese.
 */
const closingAnywhere = '[\\p{Pe}\\p{Pf}"\']'
const boundary = new RegExp(
  `(?<=${mark}${closing}*)(?=\\s)|(?<=(?!${insideWords})${mark}${closingAnywhere}*)(?!${mark}|${closingAnywhere}|\\s)`,
  'u',
)

/** Divides a text into sentences. The white space between two sentences belongs to the start of the second sentence. */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = []
  let sentence = ''
  for (const part of text.split(boundary)) {
    sentence += part
    if (!endsSentence(sentence)) continue
    sentences.push(sentence)
    sentence = ''
  }
  return sentence.trim() === '' ? sentences : [...sentences, sentence]
}
