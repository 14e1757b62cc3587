// Joins the texts of utterances to the full text of a transcript.

import { writtenWithoutSpaces } from '../languages.ts'

/** Matches a Latin letter, an ASCII digit or an ASCII punctuation mark at one end of a text. */
const latin = { end: /[!-~\p{Script=Latin}]$/u, start: /^[!-~\p{Script=Latin}]/u }

/** Joins texts. Puts a space between two texts where `withGap` requires one. */
export function joinTexts(texts: readonly string[], language: string): string {
  return texts.map((text, index) => withGap(text, texts[index - 1], language)).join('')
}

/**
 * Returns `text`, with a space in front if it must be separated from the text `before`. In a language without spaces,
 * such as Chinese, only two adjacent Latin characters are separated. ASCII digits and punctuation marks count as Latin
 * characters.
 */
export function withGap(text: string, before: string | undefined, language: string): string {
  if (before === undefined) return text
  const isSpaced = !writtenWithoutSpaces(language) || (latin.end.test(before) && latin.start.test(text))
  return isSpaced ? ` ${text}` : text
}
