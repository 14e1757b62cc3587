// Computes the times of words after an edit of their utterance. Unchanged words keep their times. Changed words share
// the time of the replaced words. Added words share the time between their neighbours.

import { keyOf, originsOf } from './match-words.ts'
import { splitWords } from './split-words.ts'
import type { Utterance, Word } from './transcript.ts'

/**
 * Returns the utterance with another text, which must be one line. Word times are computed from `original`, the
 * engine's version, so that errors of several edits do not add up.
 */
export function withText(
  utterance: Utterance,
  { original, text, language }: { original: Utterance; text: string; language: string },
): Utterance {
  if (original.words.length === 0) return { ...utterance, text }
  const { speaker } = utterance
  const words =
    text === original.text ? original.words : retime(original, splitWords(text, original.words, language))
  return { ...utterance, text, words: words.map(word => (speaker === null ? word : { ...word, speaker })) }
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

/** Distributes the time from `gap.start` to `gap.end` among words, roughly in proportion to their lengths. */
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
