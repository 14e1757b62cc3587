// Finds the ends of sentences in a text, in any writing system.

/**
 * Matches a mark that ends a sentence: Unicode's sentence terminals, the ellipsis, the Tibetan shad and the Greek
 * question mark. A semicolon after a Greek letter is also matched, because it is a Greek question mark. The Burmese
 * mark `၊` is excluded, because it separates phrases.
 */
const mark = '(?:(?!၊)[\\p{Sentence_Terminal}…\u037e།༎]|(?<=\\p{Script=Greek});)'
/**
 * Matches a closing quotation mark or bracket. The marks `“`, `‘` and `«` are included: they open a quotation in some
 * languages, but close it in others.
 */
const closing = '[\\p{Pe}\\p{Pf}"\'“‘«]'

const sentenceEnd = new RegExp(`${mark}${closing}*\\s*$`, 'u')
/**
 * Matches an abbreviation at the end of a text, such as `Dr.`, because its period does not end a sentence. Also matches
 * a single letter with a period, and a number of one or two digits with a period, because in German such a number is an
 * ordinal number: `3.` means `3rd`.
 */
const abbreviation =
  /(?:^|[\s\p{Ps}\p{Pi}"'¿¡])(?:\p{L}|\d{1,2}|Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|bzw|usw|Nr|Hr|Fr|Sra|Ud|Mme|Mlle)\.\s*$/iu

/** Returns true if a sentence ends at the end of `text`. */
export function endsSentence(text: string): boolean {
  return sentenceEnd.test(text) && !abbreviation.test(text)
}

/**
 * Matches a mark that also occurs inside words and numbers, such as the period in `3.5`. Inside a text, such a mark
 * ends a sentence only before white space. Closing marks may stand between the two.
 */
const insideWords = '[.!?…]'
/**
 * Matches a closing bracket, a closing quotation mark or a straight quotation mark. If such a character directly
 * follows the punctuation at the end of a sentence, the character belongs to this sentence. The quotation mark `“` is
 * not matched: in Chinese, it may open the next sentence directly after a full stop.
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
