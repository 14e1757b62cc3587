// Joins the texts of utterances to the full text of a transcript.

import { writtenWithoutSpaces } from '../languages.ts'

/** Matches a Latin letter, or a digit or a punctuation mark of ASCII, at the end and at the start of a text. */
const latin = { end: /[!-~\p{Script=Latin}]$/u, start: /^[!-~\p{Script=Latin}]/u }

/**
 * Joins texts with spaces between them. In a language that is written without spaces, such as Chinese, two texts are
 * joined without a space. An exception is for texts in Latin letters, such as the English texts `Okay.` and
 * `Let us start.` in a Chinese conversation. Two texts get a space between them if the last character of the first text
 * and the first character of the second text are both Latin letters, ASCII digits or ASCII punctuation marks.
 */
export function joinTexts(texts: readonly string[], language: string): string {
  if (!writtenWithoutSpaces(language)) return texts.join(' ')
  return texts
    .map((text, index) => {
      const isLatin = latin.end.test(texts[index - 1] ?? '') && latin.start.test(text)
      return isLatin ? ` ${text}` : text
    })
    .join('')
}
