// Joins the tokens of a framewise model (CTC or TDT) into words.

import { needsWordBreaking, writtenWithoutSpaces } from '../../languages.ts'
import type { AlignedWord } from '../hear/aligned-word.ts'
import { mergePunctuation } from '../hear/punctuation.ts'
import { continuesLatin, joinAtBreaks } from '../hear/token-words.ts'

/** A token with its start and its end, in Whisper's frames of 20 ms. */
export type TimedToken = { text: string; from: number; to: number; probability: number }

/**
 * Joins tokens into words. A word begins at a token with a space before it. In Chinese and Japanese, each token is a
 * word, except in a Latin word or a number. In Thai, Lao, Khmer and Burmese, the words are those of `Intl.Segmenter`.
 * Punctuation is then joined to the words beside it.
 */
export function wordsOf(tokens: readonly TimedToken[], language: string): AlignedWord[] {
  const groups = needsWordBreaking(language) ? brokenGroups(tokens, language) : groupsOf(tokens, language)
  return mergePunctuation(groups.map(wordOf))
}

function brokenGroups(tokens: readonly TimedToken[], language: string): TimedToken[][] {
  const pieces = tokens.map(({ text }, index) => ({ text, ids: [index] }))
  const words = joinAtBreaks(pieces, language).filter(({ text }) => text.trim() !== '')
  return words.map(({ ids }) => ids.flatMap(index => tokens[index] ?? []))
}

function groupsOf(tokens: readonly TimedToken[], language: string): TimedToken[][] {
  const alone = writtenWithoutSpaces(language)
  const groups: TimedToken[][] = []
  let spaced = false
  for (const token of tokens) {
    if (token.text.trim() === '') {
      spaced = true
      continue
    }
    const group = groups.at(-1)
    const continues = !alone || continuesLatin(group?.at(-1)?.text ?? '', token.text)
    if (group && continues && !spaced && !token.text.startsWith(' ')) group.push(token)
    else groups.push([spaced && !token.text.startsWith(' ') ? { ...token, text: ` ${token.text}` } : token])
    spaced = false
  }
  return groups
}

/**
 * Joins the tokens of a word. A token that is only spaces does not count for the times and the probability of the word.
 */
function wordOf(tokens: readonly TimedToken[]): AlignedWord {
  const timed = tokens.filter(({ text }) => text.trim() !== '')
  return {
    text: tokens.map(({ text }) => text).join(''),
    from: Math.min(...timed.map(({ from }) => from)),
    to: Math.max(...timed.map(({ to }) => to)),
    probability: timed.reduce((sum, { probability }) => sum + probability, 0) / timed.length,
  }
}
