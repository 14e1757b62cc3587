// Finds the words of an utterance, with the times and the punctuation that subtitle cues need.

import { findPieces } from './pieces.ts'
import { endsSentence } from './sentence.ts'
import type { Utterance } from './transcript.ts'

/**
 * A word of a subtitle cue. `spaced` is true if a space belongs before the word. `text` may be empty, because the
 * export option `strip_chars` removes characters. `endsSentence` is found before this removal.
 */
export type Spoken = {
  text: string
  spaced: boolean
  endsSentence: boolean
  startMs: number
  endMs: number
  speaker: string | null
}

/** Returns the words of an utterance. If the utterance has no words, its whole text counts as one word. */
export function spokenWords(utterance: Utterance, clean: (text: string) => string): Spoken[] {
  const startMs = milliseconds(utterance.start, 0)
  const words = utterance.words ?? []
  if (words.length === 0) {
    const endMs = Math.max(startMs, milliseconds(utterance.end, startMs))
    const text = clean(utterance.text ?? '')
    return [{ text, spaced: false, endsSentence: false, startMs, endMs, speaker: utterance.speaker }]
  }
  const pieces = findPieces(
    words.map(({ word }) => word ?? ''),
    utterance.text ?? '',
  )
  let fromMs = startMs
  let clockMs = startMs
  return words.map((word, index) => {
    const { text, spaced } = pieces[index]!
    fromMs = Math.max(fromMs, milliseconds(word.start, clockMs))
    const endMs = Math.max(fromMs, milliseconds(word.end, fromMs))
    clockMs = Math.max(clockMs, endMs)
    return {
      text: clean(text),
      spaced,
      endsSentence: endsSentence(text),
      startMs: fromMs,
      endMs,
      speaker: word.speaker ?? utterance.speaker,
    }
  })
}

function milliseconds(seconds: number, otherwise: number): number {
  return Number.isFinite(seconds) ? Math.max(0, Math.round(seconds * 1000)) : otherwise
}
