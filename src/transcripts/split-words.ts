// Divides the text of an edited utterance into words.

import { writtenWithoutSpaces } from '../languages.ts'
import type { Word } from './transcript.ts'

/**
 * Divides an edited text into words, usually at the spaces. In a language without spaces, unchanged words at both ends
 * stay as they are. The text between them is divided by the Unicode rules.
 */
export function splitWords(text: string, old: readonly Word[], language: string): string[] {
  if (!writtenWithoutSpaces(language)) return text.split(' ').filter(part => part !== '')
  const head: string[] = []
  const tail: string[] = []
  let [from, to] = [0, text.length]
  for (const { word } of old) {
    if (word === '' || !text.startsWith(word, from)) break
    head.push(word)
    from += word.length
  }
  for (const { word } of old.slice(head.length).toReversed()) {
    if (word === '' || to - word.length < from || !text.startsWith(word, to - word.length)) break
    tail.unshift(word)
    to -= word.length
  }
  return [...head, ...segmentsOf(text.slice(from, to), language), ...tail]
}

/**
 * Divides a text into words by the Unicode rules for word boundaries. A punctuation mark is joined to the word before
 * it, if there is one.
 */
function segmentsOf(text: string, language: string): string[] {
  const words: string[] = []
  for (const { segment, isWordLike } of new Intl.Segmenter(language, { granularity: 'word' }).segment(text)) {
    const part = segment.trim()
    if (part === '') continue
    const last = words.at(-1)
    if (isWordLike || last === undefined) words.push(part)
    else words[words.length - 1] = last + part
  }
  return words
}
