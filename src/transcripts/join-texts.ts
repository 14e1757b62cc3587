// Joins the texts of utterances to the full text of a transcript.

import { writtenWithoutSpaces } from '../languages.ts'

/** Matches a Latin letter, or a digit or a punctuation mark of ASCII, at the end and at the start of a text. */
const latin = { end: /[!-~\p{Script=Latin}]$/u, start: /^[!-~\p{Script=Latin}]/u }

/** Joins texts, with the gaps of `withGap` between them. */
export function joinTexts(texts: readonly string[], language: string): string {
  return texts.map((text, index) => withGap(text, texts[index - 1], language)).join('')
}

/**
 * Returns `text`, with a space in front if `text` must be separated from the text `before`. The first text has no text
 * before it. In a language that is written without spaces, such as Chinese, two texts are joined without a space. Texts
 * in Latin letters are an exception, such as the English texts `Okay.` and `Let us start.` in a Chinese conversation.
 * Two texts get a space between them if the last character of the first text and the first character of the second text
 * are both Latin letters, ASCII digits or ASCII punctuation marks.
 */
export function withGap(text: string, before: string | undefined, language: string): string {
  if (before === undefined) return text
  const isSpaced = !writtenWithoutSpaces(language) || (latin.end.test(before) && latin.start.test(text))
  return isSpaced ? ` ${text}` : text
}
