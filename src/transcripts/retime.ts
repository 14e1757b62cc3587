// Computes the times of words after an edit of their utterance. An unchanged word keeps its times. Changed words
// share the time of the words that they replace.

import { writtenWithoutSpaces } from '../languages.ts'
import type { Utterance, Word } from './transcript.ts'

/**
 * The maximum number of cells in the table with which `commonWords` compares the words before and after an edit. If the
 * table would be larger, the words are not compared. All words between the first and the last changed word then count
 * as changed, and get computed times.
 */
const cellsMax = 250_000

/**
 * Returns the utterance with another text, which must be one line. The word times are computed from `original`, the
 * engine's version of the utterance, so that the errors of several edits do not add up.
 */
export function withText(
  utterance: Utterance,
  { original, text, language }: { original: Utterance; text: string; language: string },
): Utterance {
  if (original.words.length === 0) return { ...utterance, text }
  const { speaker } = utterance
  const words = retime(original, splitWords(text, original.words, language))
  return { ...utterance, text, words: words.map(word => (speaker === null ? word : { ...word, speaker })) }
}

/**
 * Divides an edited text into words. In a language without spaces between words, the unchanged words at both ends of
 * the utterance stay as they are, and only the text between them is divided by the Unicode rules.
 */
function splitWords(text: string, old: readonly Word[], language: string): string[] {
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
 * it.
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

function retime({ words: old, start, end }: Utterance, texts: readonly string[]): Word[] {
  const origins = originsOf(
    old.map(keyOf),
    texts.map(word => keyOf({ word })),
  )
  const words: Word[] = []
  for (let at = 0; at < texts.length; ) {
    const kept = old[origins[at] ?? -1]
    if (kept) {
      words.push({ ...kept, word: texts[at] ?? '' })
      at += 1
      continue
    }
    let next = at
    while (next < texts.length && origins[next] === undefined) next += 1
    const before = (origins[at - 1] ?? -1) + 1
    const after = origins[next] ?? old.length
    const gap = {
      start: old[before < after ? before : -1]?.start ?? old[before - 1]?.end ?? start,
      end: old[before < after ? after - 1 : -1]?.end ?? old[after]?.start ?? end,
    }
    words.push(...spread(texts.slice(at, next), gap))
    at = next
  }
  return words
}

/** Distributes the time from `gap.start` to `gap.end` among words, in proportion to the lengths of the words. */
function spread(texts: readonly string[], gap: { start: number; end: number }): Word[] {
  const lengths = texts.map(text => text.length + 1)
  const sum = lengths.reduce((total, length) => total + length, 0)
  const duration = Math.max(0, gap.end - gap.start)
  let passed = 0
  const timeNow = () => Math.round((gap.start + (duration * passed) / sum) * 1000) / 1000
  return texts.map((word, index) => {
    const start = timeNow()
    passed += lengths[index] ?? 0
    return { word, start, end: timeNow(), confidence: null }
  })
}

/** Returns the form in which words are compared: in lower case and without punctuation. */
function keyOf({ word }: Pick<Word, 'word'>): string {
  return word.toLowerCase().replace(/[^\p{L}\p{N}\p{M}]/gu, '') || word
}

/**
 * Returns, for each word after the edit, the index that the same word had before the edit. The index is undefined for a
 * word that the edit added or changed.
 */
function originsOf(old: readonly string[], edited: readonly string[]): (number | undefined)[] {
  const origins: (number | undefined)[] = edited.map(() => undefined)
  let head = 0
  while (head < old.length && head < edited.length && old[head] === edited[head]) {
    origins[head] = head
    head += 1
  }
  let tail = 0
  const rest = Math.min(old.length, edited.length) - head
  while (tail < rest && old[old.length - 1 - tail] === edited[edited.length - 1 - tail]) {
    origins[edited.length - 1 - tail] = old.length - 1 - tail
    tail += 1
  }
  const pairs = commonWords(old.slice(head, old.length - tail), edited.slice(head, edited.length - tail))
  for (const [from, to] of pairs) origins[head + to] = head + from
  return origins
}

/**
 * Returns a longest common subsequence of two lists of words, as pairs of indexes. Returns an empty list if the table
 * would have more than `cellsMax` cells.
 */
function commonWords(old: readonly string[], edited: readonly string[]): [number, number][] {
  const width = edited.length + 1
  if (old.length * edited.length > cellsMax) return []
  // The table cell at [i, j] is the length of the longest common subsequence of the lists old[i…] and edited[j…].
  const lengths = new Uint16Array((old.length + 1) * width)
  const lengthAt = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = edited.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        old[i] === edited[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
  const pairs: [number, number][] = []
  for (let i = 0, j = 0; i < old.length && j < edited.length; ) {
    if (old[i] === edited[j]) pairs.push([i++, j++])
    else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i += 1
    else j += 1
  }
  return pairs
}
