// Compares the words of an utterance before and after an edit, and finds the unchanged words.

import type { Word } from './transcript.ts'

/**
 * The maximum number of word pairs (before and after an edit) that `commonWords` compares. With more pairs, all words
 * between the first and the last change count as changed. Changed words lose their own times.
 */
const cellsMax = 250_000

/**
 * Returns the form in which words are compared: in lower case and without punctuation. A word without letters and
 * digits stays as it is.
 */
export function keyOf({ word }: Pick<Word, 'word'>): string {
  return word.toLowerCase().replace(/[^\p{L}\p{N}\p{M}]/gu, '') || word
}

/**
 * Returns, for each word after the edit, its index before the edit. The index is undefined for an added or changed
 * word.
 */
export function originsOf(old: readonly string[], edited: readonly string[]): (number | undefined)[] {
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
 * Returns a longest common subsequence of two word lists, as pairs of indexes. Returns an empty list if there are more
 * than `cellsMax` pairs to compare.
 */
function commonWords(old: readonly string[], edited: readonly string[]): [number, number][] {
  const width = edited.length + 1
  if (old.length * edited.length > cellsMax) return []
  // Cell [i, j] is the length of the longest common subsequence of old[i…] and edited[j…].
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
