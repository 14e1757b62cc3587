// Checks that a text is in the script of the job's language. A framewise model does not know the language, so it may
// write the text in another script. The window is then decoded again without the tokens of other scripts.

import { lettersOf } from './languages.ts'
import type { Tokens } from './tokens.ts'
import type { TimedToken } from './words.ts'

/**
 * The tokens that a decoder may choose: at the number of a token, 1 if the token is permitted, and 0 if not. Null
 * permits every token.
 */
export type Permitted = Uint8Array | null

const letter = /\p{Letter}/gu

/** Returns true if most letters of the text are in other scripts than those of the language. */
export function isForeign(text: string, language: string | null): boolean {
  const own = language === null ? null : lettersOf(language)
  if (own === null) return false
  const letters = text.match(letter) ?? []
  return letters.filter(each => !own.test(each)).length > letters.length / 2
}

/** Permits a token if all its letters are in a script of the language. A token without letters is permitted. */
export function permittedFor(tokens: Tokens, language: string): Permitted {
  const own = lettersOf(language)
  if (own === null) return null
  return Uint8Array.from(tokens, token => {
    const letters = token.match(letter) ?? []
    return letters.every(each => own.test(each)) ? 1 : 0
  })
}

/**
 * Decodes a window with all tokens permitted. If the text is in a script of another language, decodes the window
 * again with only the tokens of the right scripts. Returns an empty list if this second text has no letter.
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

/** Returns the tokens, or an empty list if none of them has a letter. */
export function withLetters(tokens: TimedToken[]): TimedToken[] {
  return textOf(tokens).match(letter) ? tokens : []
}

export function textOf(tokens: readonly TimedToken[]): string {
  return tokens.map(({ text }) => text).join('')
}

/**
 * Returns the permitted token with the highest score. The scores of the tokens are the `count` values of `scores`
 * from index `from` on.
 */
export function bestOf(scores: Float32Array, from: number, count: number, permitted: Permitted): number {
  let best = -1
  for (let number = 0; number < count; number++) {
    if (permitted !== null && permitted[number] === 0) continue
    if (best < 0 || scores[from + number]! > scores[from + best]!) best = number
  }
  return best
}

/**
 * Returns the softmax probability of the token `number`. Its score, and the scores of all other tokens, are the
 * `count` values of `scores` from index `from` on.
 */
export function probabilityOf(scores: Float32Array, from: number, count: number, number: number): number {
  const chosen = scores[from + number]!
  let sum = 0
  for (let index = from; index < from + count; index++) sum += Math.exp(scores[index]! - chosen)
  return 1 / sum
}
