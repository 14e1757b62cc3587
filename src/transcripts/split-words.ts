// Divides the text of an edited utterance into words.

import { needsWordBreaking, writtenWithoutSpaces } from '../languages.ts'
import type { Word } from './transcript.ts'

/**
 * Divides an edited text into words. Unchanged words at both ends stay as they are. The text between them is divided at
 * the spaces, or by the Unicode rules in a language without spaces.
 */
export function splitWords(text: string, old: readonly Word[], language: string): string[] {
  const isSpaced = !writtenWithoutSpaces(language) && !needsWordBreaking(language)
  const isSpace = (at: number) => /\s/.test(text.charAt(at))
  /** Returns true if the character at this position belongs to no other word. Always true without spaces. */
  const isEdge = (at: number) => !isSpaced || ['', ' '].includes(text.charAt(at))
  const head: string[] = []
  const tail: string[] = []
  let [from, to] = [0, text.length]
  for (const { word } of old) {
    while (isSpace(from)) from += 1
    if (word === '' || !text.startsWith(word, from) || !isEdge(from + word.length)) break
    head.push(word)
    from += word.length
  }
  for (const { word } of old.slice(head.length).toReversed()) {
    while (to > from && isSpace(to - 1)) to -= 1
    const at = to - word.length
    if (word === '' || at < from || !text.startsWith(word, at) || !isEdge(at - 1)) break
    tail.push(word)
    to = at
  }
  const changed = text.slice(from, to)
  return [...head, ...(isSpaced ? partsOf(changed) : segmentsOf(changed, language)), ...tail.toReversed()]
}

/**
 * Matches punctuation that French writes after a space. The engine joins such a mark to the word before it, as in
 * `Quoi ?`.
 */
const spacedMark = /^[!?:;…»]+$/

/** Divides a text into words at its spaces. A mark that `spacedMark` matches stays with the word before it. */
function partsOf(text: string): string[] {
  const words: string[] = []
  for (const part of text.split(' ')) {
    if (part === '') continue
    const last = words.at(-1)
    if (last !== undefined && spacedMark.test(part)) words[words.length - 1] = `${last} ${part}`
    else words.push(part)
  }
  return words
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
