// Joins the texts of utterances to the full text of a transcript.

import { writtenWithoutSpaces } from '../languages.ts'

/** Matches a Latin letter, or a digit or a punctuation mark of ASCII, at the end and at the start of a text. */
const latin = { end: /[!-~\p{Script=Latin}]$/u, start: /^[!-~\p{Script=Latin}]/u }

/**
 * Joins texts with spaces between them. In a language that is written without spaces, there is a space only between two
 * texts such as `Okay.` and `Let us start.`, which speakers of Chinese also say in English.
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
