// Converts the times of words in a window of at most 30 s to times in the recording.

import { wordTimes } from './align.ts'
import type { AlignedWord } from './aligned-word.ts'
import { estimatedTimes } from './estimate.ts'
import type { Hypothesis } from './hypothesis.ts'
import { segmentsOf } from './segments.ts'
import type { Span } from './speech-spans.ts'
import type { Whisper } from './whisper.ts'
import type { Window } from './windows.ts'
import { lengthenShort, limitLengths } from './word-lengths.ts'
import { inFrames, spanOf, voicesIn } from './word-span.ts'

/** A word with its text and its span in the recording. `probability` is null if not known. */
export type PlacedText = Span & { text: string; probability: number | null }

export function placeInRecording(
  { facts, tokenizer }: Whisper,
  window: Window,
  hypothesis: Hypothesis,
  language: string,
): PlacedText[] {
  if (hypothesis.verdict === 'silence') return []
  const segments = segmentsOf(hypothesis, facts.firstTimestamp)
  const voices = voicesIn(window)
  if (hypothesis.attention.length === 0)
    return placeWords(window, estimatedTimes(tokenizer, language, segments, voices.map(inFrames)))
  const words = wordTimes(tokenizer, language, segments, hypothesis.frames, voices.map(inFrames))
  return lengthenShort(limitLengths(placeWords(window, words)))
}

/** Converts the times of words from model frames of the window to samples of the recording. */
export function placeWords(window: Window, words: readonly AlignedWord[]): PlacedText[] {
  const voices = voicesIn(window)
  // The computed start of a word can be earlier than that of the previous word. Such a word gets the start of the
  // previous word, because starts must never decrease.
  let earliest = 0
  let lastEnd = 0
  return words.map(word => {
    const { from, to } = spanOf(voices, word, lastEnd)
    earliest = Math.max(earliest, from)
    lastEnd = Math.max(earliest, to)
    return { text: word.text, from: earliest, to: lastEnd, probability: word.probability }
  })
}
