// Divides the text of an edited utterance into words.

import { needsWordBreaking, writtenWithoutSpaces } from '../languages.ts'
import type { Word } from './transcript.ts'

/**
 * Divides an edited text into words. Unchanged words at both ends stay as they are, except that new punctuation marks
 * may be joined to them. The text between them is divided at the spaces, or by the Unicode rules in a language without
 * spaces.
 */
export function splitWords(text: string, old: readonly Word[], language: string): string[] {
  const isSpaced = !writtenWithoutSpaces(language) && !needsWordBreaking(language)
  const insideWord = isSpaced ? /^[^ ]{2}$/ : /^[\p{sc=Latin}\p{N}]{2}$/u
  const isEdge = (at: number) => !insideWord.test(text.slice(Math.max(0, at - 1), at + 1))
  const words = old.map(({ word }) => word)
  const ends = endsOf(text, words)
  const head = ends.findLastIndex(isEdge) + 1
  const from = ends[head - 1] ?? 0
  const begins = endsOf(reversed(text), words.toReversed().map(reversed)).map(end => text.length - end)
  const tail = begins.findLastIndex(at => isEdge(at) && at >= from) + 1
  const changed = text.slice(from, begins[tail - 1] ?? text.length)
  const parts = isSpaced ? partsOf(changed) : segmentsOf(changed, language)
  const [next, ...others] = words.slice(words.length - tail)
  if (next !== undefined) parts.push({ text: next, isMark: false })
  return [...joined(words.slice(0, head), parts, isSpaced ? ' ' : ''), ...others]
}

/**
 * Returns the positions in a text at which the given words end. Stops at the first word that does not follow the
 * previous word. Only white space may be between two words.
 */
function endsOf(text: string, words: readonly string[]): number[] {
  const ends: number[] = []
  for (const word of words) {
    let from = ends.at(-1) ?? 0
    while (/\s/.test(text.charAt(from))) from += 1
    if (word === '' || !text.startsWith(word, from)) break
    ends.push(from + word.length)
  }
  return ends
}

/** Returns the UTF-16 code units of a text in reverse order. */
function reversed(text: string): string {
  return text.split('').toReversed().join('')
}

/** A part of a text. `isMark` is true for punctuation that belongs to the word before it. */
type Part = { text: string; isMark: boolean }

/** Matches punctuation that French writes after a space. It belongs to the word before it. */
const spacedMark = /^[!?:;…»]+$/
/** Matches opening quotation marks and brackets. They belong to the word after them. */
const opening = /^[\p{Ps}\p{Pi}]+$/u

/** Divides a text at its spaces. */
function partsOf(text: string): Part[] {
  const parts = text.split(' ').filter(part => part !== '')
  return parts.map(part => ({ text: part, isMark: spacedMark.test(part) }))
}

/** Divides a text by the Unicode rules for word boundaries. */
function segmentsOf(text: string, language: string): Part[] {
  const parts: Part[] = []
  for (const { segment, isWordLike } of new Intl.Segmenter(language, { granularity: 'word' }).segment(text)) {
    const part = segment.trim()
    if (part !== '') parts.push({ text: part, isMark: !isWordLike && !opening.test(part) })
  }
  return parts
}

/**
 * Returns `words` followed by the texts of `parts`. Joins each opening mark to the part after it, and any other mark to
 * the word before it, if there is one.
 */
function joined(words: readonly string[], parts: readonly Part[], separator: string): string[] {
  const all = [...words]
  for (const { text, isMark } of parts) {
    const last = all.at(-1)
    if (last === undefined || !(isMark || opening.test(last))) all.push(text)
    else all[all.length - 1] = last + separator + text
  }
  return all
}
