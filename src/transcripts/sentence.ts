// Finds the ends of sentences in a text, in any writing system.

/**
 * The marks that end a sentence: Unicode's sentence terminals, the ellipsis, the Tibetan shad and the Greek
 * question mark. After a Greek letter, a semicolon is a question mark. The Burmese mark `၊` is excluded: it
 * separates phrases.
 */
const mark = '(?:(?!၊)[\\p{Sentence_Terminal}…\u037e།༎]|(?<=\\p{Script=Greek});)'
/**
 * Closing quotation marks and brackets. The mark `“` opens a quotation in English, but closes a quotation in
 * German.
 */
const closing = '[\\p{Pe}\\p{Pf}"\'“‘«]'

const sentenceEnd = new RegExp(`${mark}${closing}*\\s*$`, 'u')
/**
 * Abbreviations: the period of an abbreviation does not end a sentence. A number of one or two digits with a
 * period does not end a sentence either: in German it is an ordinal number.
 */
const abbreviation =
  /(?:^|[\s\p{Ps}\p{Pi}"'¿¡])(?:\p{L}|\d{1,2}|Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|bzw|usw|Nr|Hr|Fr|Sra|Ud|Mme|Mlle)\.\s*$/iu

/** Returns true if a sentence ends at the end of `text`. */
export function endsSentence(text: string): boolean {
  return sentenceEnd.test(text) && !abbreviation.test(text)
}

/** Marks that also occur inside words and numbers. These marks end a sentence only before white space. */
const insideWords = '[.!?…]'
/**
 * Closing marks that never open a quotation. The mark `“` is not in the list: in Chinese, `“` after a full
 * stop opens the next sentence.
 */
const closingAnywhere = '[\\p{Pe}\\p{Pf}"\']'
const boundary = new RegExp(
  `(?<=${mark}${closing}*)(?=\\s)|(?<=(?!${insideWords})${mark}${closingAnywhere}*)(?!${mark}|${closingAnywhere}|\\s)`,
  'u',
)

/** Splits a text into sentences. Each sentence keeps the white space before it. */
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
