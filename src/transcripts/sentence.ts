// Finds the end of a sentence, in every script of a transcript.

/**
 * The marks that end a sentence: Unicode's sentence terminals, the ellipsis, the Tibetan shad, and the Greek question
 * mark, which is usually typed as a semicolon. The Burmese little section is excluded, because it separates phrases.
 */
const mark = '(?:(?!၊)[\\p{Sentence_Terminal}…\u037e།༎]|(?<=\\p{Script=Greek});)'
/** Closing quotation marks and brackets. German closes a quotation with the mark that opens one in English. */
const closing = '[\\p{Pe}\\p{Pf}"\'“‘«]'

const sentenceEnd = new RegExp(`${mark}${closing}*\\s*$`, 'u')
/**
 * Abbreviations: a period after one of these does not end a sentence. In German and related languages a number of one
 * or two digits with a period is an ordinal.
 */
const abbreviation =
  /(?:^|[\s\p{Ps}\p{Pi}"'¿¡])(?:\p{L}|\d{1,2}|Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|bzw|usw|Nr|Hr|Fr|Sra|Ud|Mme|Mlle)\.\s*$/iu

/** Returns true if `text`, one word or more, ends a sentence. */
export function endsSentence(text: string): boolean {
  return sentenceEnd.test(text) && !abbreviation.test(text)
}

/** These marks also occur inside words and numbers. They end a sentence only before a space. */
const insideWords = '[.!?…]'
/**
 * Closing marks without quotation marks that may also open: in Chinese `“` after a full stop opens the next sentence.
 */
const closingAnywhere = '[\\p{Pe}\\p{Pf}"\']'
const boundary = new RegExp(
  `(?<=${mark}${closing}*)(?=\\s)|(?<=(?!${insideWords})${mark}${closingAnywhere}*)(?!${mark}|${closingAnywhere}|\\s)`,
  'u',
)

/** Splits a text into sentences. Joined, they are the text again, except for white space after the last one. */
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
