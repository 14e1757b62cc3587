// The tokens that a window's text follows: what the caller says of the recording, and the language.

import { listedCode } from '../../languages.ts'
import type { Whisper } from './whisper.ts'

/** What the caller says of the recording. */
export type Context = {
  /** Text as it could stand before the recording: names, style, punctuation. */
  prompt: string | null
  /** Terms that may be said in the recording. */
  vocabulary: readonly string[]
}

export type ContextTokens = {
  ids: number[]
  /** Whether the beginning was left out because the text is too long. */
  cut: boolean
}

/**
 * Returns the caller's text as tokens: the terms, then the prompt. At most half of the model's positions are for such
 * text.
 */
export function contextTokens({ facts, tokenizer }: Whisper, { prompt, vocabulary }: Context): ContextTokens {
  const terms = vocabulary.map(plain).filter(term => term !== '')
  const parts = [terms.length > 0 ? `Glossary: ${terms.join(', ')}.` : '', plain(prompt ?? '')]
  const text = parts.filter(part => part !== '').join(' ')
  if (facts.previous === null || text === '') return { ids: [], cut: text !== '' }
  const tokens = tokenizer.encode(` ${text}`)
  const most = Math.floor(facts.positions / 2) - 1
  return { ids: [facts.previous, ...tokens.slice(-most)], cut: tokens.length > most }
}

/** Removes control characters and line breaks. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
}

/**
 * Returns the prompt, without the text of the previous window. Windows with such a prompt cannot be decoded in one
 * batch, and errors propagate to the next window. On ten minutes, the pocket model has a word error rate of 5.9 %
 * without that text and 13.8 % with it.
 */
export function promptOf({ facts }: Whisper, context: readonly number[], language: string): number[] {
  const { start, transcribe, languages } = facts
  const known = languages.get(listedCode(language))
  return [...context, start, ...(known === undefined || transcribe === null ? [] : [known, transcribe])]
}
