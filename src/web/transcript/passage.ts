// Writes a selected passage as subtitles in the SubRip format. A long sentence is divided into cues of similar length.

import type { TranscriptView } from './view.ts'

/** The indexes of the first and the last word of a passage. The last word is part of the passage. */
export type Passage = { first: number; last: number }

/** Two lines of 42 characters, as is usual for subtitles. */
const longestCue = 84
const longestSeconds = 6

/** A word or a cue. `text` has the punctuation behind the last word. */
type Timed = { start: number; end: number; text: string }

/** Returns the subtitles of a passage. The times count from the start of the whole recording. */
export function subtitlesOf(view: TranscriptView, passage: Passage): string {
  return sentencesOf(view, passage)
    .flatMap(words => cuesOf(words))
    .map(({ start, end, text }, at) => `${at + 1}\n${timeOf(start)} --> ${timeOf(end)}\n${text.trim()}\n`)
    .join('\n')
}

/** Returns the words of the passage, in one list for each utterance. */
function sentencesOf(view: TranscriptView, { first, last }: Passage): Timed[][] {
  const sentences = new Map<number, Timed[]>()
  for (let word = first; word <= last; word++) {
    const place = view.placeOf(word)
    if (!place) continue
    const { utterance, from } = place
    // The text extends to the start of the next word, so that it includes the punctuation behind this word.
    const next = view.placeOf(word + 1)
    const whole = view.utterances[utterance]?.text ?? ''
    const text = whole.slice(from, next?.utterance === utterance ? next.from : undefined)
    const start = view.index.starts[word] ?? 0
    const words = sentences.get(utterance) ?? []
    sentences.set(utterance, [...words, { start, end: view.index.ends[word] ?? start, text }])
  }
  return [...sentences.values()]
}

/** Divides the words of a sentence into the smallest number of cues, all of about the same length. */
function cuesOf(words: readonly Timed[], parts = 1): Timed[] {
  const length = words.reduce((sum, { text }) => sum + text.length, 0)
  const cues: Timed[] = []
  let passed = 0
  for (const word of words) {
    const part = Math.floor(((passed + word.text.length / 2) / length) * parts)
    passed += word.text.length
    const cue = cues[part]
    if (cue) Object.assign(cue, { text: cue.text + word.text, end: word.end })
    else cues[part] = { ...word }
  }
  const isLong = ({ start, end, text }: Timed) =>
    text.trim().length > longestCue || end - start > longestSeconds
  return cues.some(isLong) && parts < words.length ? cuesOf(words, parts + 1) : cues.filter(Boolean)
}

function timeOf(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23).replace('.', ',')
}
