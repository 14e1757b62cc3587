// The end of a sentence, in every script that a transcript may be written in.

/**
 * Unicode's sentence terminals, the ellipsis, and marks that Unicode leaves out: the Greek question mark, which is
 * usually typed as a semicolon, and the Tibetan shad. The Burmese little section is left out: it separates phrases.
 */
const mark = '(?:(?!၊)[\\p{Sentence_Terminal}…\u037e།༎]|(?<=\\p{Script=Greek});)'
/** German closes a quotation with the mark that English opens one with. */
const closing = '[\\p{Pe}\\p{Pf}"\'“‘«]'

const sentenceEnd = new RegExp(`${mark}${closing}*\\s*$`, 'u')
/** A point after one of these ends no sentence. Numbers of two digits are ordinals in German and its neighbours. */
const abbreviation =
  /(?:^|[\s\p{Ps}\p{Pi}"'¿¡])(?:\p{L}|\d{1,2}|Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|bzw|usw|Nr|Hr|Fr|Sra|Ud|Mme|Mlle)\.\s*$/iu

/** Whether `text`, a word or more, ends a sentence. */
export function endsSentence(text: string): boolean {
  return sentenceEnd.test(text) && !abbreviation.test(text)
}

/** These marks also stand inside words and numbers: a sentence ends there only before a space. */
const insideWords = '[.!?…]'
/** In Chinese `“` after a full stop opens the next sentence. */
const closingAnywhere = '[\\p{Pe}\\p{Pf}"\']'
const boundary = new RegExp(
  `(?<=${mark}${closing}*)(?=\\s)|(?<=(?!${insideWords})${mark}${closingAnywhere}*)(?!${mark}|${closingAnywhere}|\\s)`,
  'u',
)

/** The sentences of a text. Joined, they are the text, but for white space after the last one. */
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
