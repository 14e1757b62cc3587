// Checks that a decoded text is in the script (the writing system) of the job's language. A framewise model (CTC or
// TDT) has no input for the language, and may write another script. The window is then decoded again without the tokens
// of other scripts.

import { lettersOf } from './languages.ts'
import type { Permitted } from './scores.ts'
import { isControl, type Tokens } from './tokens.ts'
import type { TimedToken } from './words.ts'

const letter = /\p{Letter}/gu

/**
 * Returns true if more than half of the letters of `text` are in no script of `language`. Returns false if `language`
 * is null, or if its scripts are not known.
 */
export function isForeign(text: string, language: string | null): boolean {
  const own = language === null ? null : lettersOf(language)
  if (own === null) return false
  const letters = text.match(letter) ?? []
  return letters.filter(each => !own.test(each)).length > letters.length / 2
}

/**
 * Permits the tokens whose letters are all in a script of the language, and the tokens without letters. Control tokens
 * such as `<blk>` are permitted too, although their names have Latin letters: the model needs the blank token in most
 * frames. Returns null, which permits all tokens, if the script is not known.
 */
export function permittedFor(tokens: Tokens, language: string): Permitted {
  const own = lettersOf(language)
  if (own === null) return null
  return Uint8Array.from(tokens, token => {
    const letters = token.match(letter) ?? []
    return isControl(token) || letters.every(each => own.test(each)) ? 1 : 0
  })
}

/**
 * Decodes a window with all tokens permitted. If at most half of the letters are in no script (writing system) of the
 * language, returns this result. Otherwise decodes the window again, and permits no letters of other scripts. Returns
 * the second result, or an empty list if the second result has no letters.
 */
export function decodeInScript(
  tokens: Tokens,
  language: string | null,
  decode: (permitted: Permitted) => TimedToken[],
): TimedToken[] {
  const free = decode(null)
  if (language === null || !isForeign(textOf(free), language)) return free
  return withLetters(decode(permittedFor(tokens, language)))
}

/**
 * Returns the tokens unchanged if their text has a letter. Otherwise returns an empty list, because a text of
 * punctuation marks alone is not speech.
 */
export function withLetters(tokens: TimedToken[]): TimedToken[] {
  return textOf(tokens).match(letter) ? tokens : []
}

export function textOf(tokens: readonly TimedToken[]): string {
  return tokens.map(({ text }) => text).join('')
}
