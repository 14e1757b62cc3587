// Joins the tokens of a framewise model (CTC or TDT) into words.

import { writtenWithoutSpaces } from '../../languages.ts'
import type { AlignedWord } from '../hear/aligned-word.ts'
import { mergePunctuation } from '../hear/punctuation.ts'

/** A token with its start and its end, in Whisper's frames of 20 ms. */
export type TimedToken = { text: string; from: number; to: number; probability: number }

/**
 * Joins tokens into words. A word begins at a token with a space before it. In a language without spaces between words,
 * each token is a word. Punctuation is then joined to the words beside it.
 */
export function wordsOf(tokens: readonly TimedToken[], language: string): AlignedWord[] {
  const alone = writtenWithoutSpaces(language)
  const groups: TimedToken[][] = []
  let spaced = false
  for (const token of tokens) {
    if (token.text.trim() === '') {
      spaced = true
      continue
    }
    const group = groups.at(-1)
    if (group && !alone && !spaced && !token.text.startsWith(' ')) group.push(token)
    else groups.push([spaced && !token.text.startsWith(' ') ? { ...token, text: ` ${token.text}` } : token])
    spaced = false
  }
  return mergePunctuation(groups.map(wordOf))
}

function wordOf(tokens: readonly TimedToken[]): AlignedWord {
  return {
    text: tokens.map(({ text }) => text).join(''),
    from: Math.min(...tokens.map(({ from }) => from)),
    to: Math.max(...tokens.map(({ to }) => to)),
    probability: tokens.reduce((sum, { probability }) => sum + probability, 0) / tokens.length,
  }
}
