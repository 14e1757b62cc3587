// A passage: the part of a transcript that a person has selected.

import type { TranscriptView } from './view.ts'

/** A part of a transcript: the indexes of its first and its last word. Both words belong to the passage. */
export type Passage = { first: number; last: number }

/** A word, or a subtitle cue of several words. `text` includes the punctuation and the space after it. */
export type Timed = { start: number; end: number; text: string }

type Sentence = { speaker: string | null; words: Timed[] }

/** Returns the words of the passage, in one list for each utterance. */
export function sentencesOf(view: TranscriptView, { first, last }: Passage): Sentence[] {
  const sentences = new Map<number, Sentence>()
  for (let word = first; word <= last; word++) {
    const place = view.placeOf(word)
    if (!place) continue
    const { utterance, from } = place
    // The text of a word ends where the next word begins. It includes the punctuation and the space after the word.
    const next = view.placeOf(word + 1)
    const whole = view.utterances[utterance]
    const text = whole?.text.slice(from, next?.utterance === utterance ? next.from : undefined) ?? ''
    const start = view.index.starts[word] ?? 0
    const sentence = sentences.get(utterance) ?? { speaker: whole?.speaker ?? null, words: [] }
    sentence.words.push({ start, end: view.index.ends[word] ?? start, text })
    sentences.set(utterance, sentence)
  }
  return [...sentences.values()]
}
