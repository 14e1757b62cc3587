// Corrects the lengths of words: shortens words whose times include silence, and lengthens very short words after a
// pause.

import { endsSentence } from '../../transcripts/sentence.ts'
import { sampleRate } from '../audio.ts'
import type { Span } from './speech-spans.ts'

const medianMax = 0.7 * sampleRate
/**
 * At the start or end of a sentence, a word has a maximum length, which `limitLengths` computes from the median length
 * of all words. The maximum is at least this number of samples (one second). Otherwise correct long words would be
 * shortened in fast speech.
 */
const wordMax = sampleRate
const wordMaxInside = 2 * sampleRate

/**
 * Shortens long words, because the time of a long word often includes silence. The maximum length is twice the median
 * length of the words, but at least 1 s and at most 1.4 s. A longer word at the start or end of a sentence is shortened
 * to this maximum. Silence is rarer inside a sentence. So a word there is shortened to the maximum only if the word is
 * longer than 2 s.
 */
export function limitLengths<Word extends Span & { text: string }>(words: readonly Word[]): Word[] {
  const lengths = words.map(({ from, to }) => to - from).filter(length => length > 0)
  const median = lengths.toSorted((one, other) => one - other)[Math.floor(lengths.length / 2)] ?? 0
  const longest = Math.max(2 * Math.min(median, medianMax), wordMax)
  return words.map((word, index) => {
    const length = word.to - word.from
    if (length <= longest) return word
    if (endsSentence(word.text)) return { ...word, to: word.from + longest }
    const before = words[index - 1]
    if (!before || endsSentence(before.text)) return { ...word, from: word.to - longest }
    return length > wordMaxInside ? { ...word, to: word.from + longest } : word
  })
}

/** The minimum length of a word after a pause, in samples: 0.12 s, the length of a short word such as `of`. */
const lengthAfterPause = 0.12 * sampleRate

/**
 * Lengthens very short words: moves their start into the pause before the word. Voice detection and attention often
 * miss the soft first sound of a word after a pause. No start is moved before the end of the previous word.
 */
export function lengthenShort<Word extends Span>(words: readonly Word[]): Word[] {
  let before = 0
  return words.map(word => {
    const from = Math.min(word.from, Math.max(before, word.to - lengthAfterPause))
    before = Math.max(before, word.to)
    return { ...word, from }
  })
}
