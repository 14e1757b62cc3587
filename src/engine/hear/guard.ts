// Checks a decoded text for four faults: text for sound without speech, repeated text, a low probability, and no text
// for sound with speech.

import { compressionOf } from './compression.ts'

/** The thresholds of the checks, and the temperatures of the attempts to decode a window, as in openai/whisper. */
export const guards = {
  compressionMax: 2.4,
  logProbabilityMin: -1,
  noSpeechMin: 0.6,
  temperatures: [0, 0.2, 0.4, 0.6, 0.8, 1],
} as const

export type DecodedText = {
  text: string
  logProbability: number
  noSpeech: number
  /** True if the text repeats itself, or has too many tokens for the length of its sound. */
  repeats: boolean
  /** The total length of the speech spans in the window, in seconds. */
  speechSeconds: number
}

export type Verdict = 'good' | 'silence' | 'again'

export function judge({ text, logProbability, noSpeech, repeats, speechSeconds }: DecodedText): Verdict {
  if (noSpeech > guards.noSpeechMin && logProbability < guards.logProbabilityMin) return 'silence'
  if (repeats) return 'again'
  if (logProbability < guards.logProbabilityMin) return 'again'
  if (text.trim() === '' && speechSeconds > 2 && noSpeech < guards.noSpeechMin) return 'again'
  return 'good'
}

/**
 * Returns true if the compression ratio of the text is high, or if `looped` is true. `looped` is true if decoding was
 * ended because the text has a loop, or has too many tokens for the length of its sound.
 */
export function repeatsItself(text: string, looped: boolean): boolean {
  return looped || compressionOf(text) > guards.compressionMax
}
