// Writes a selected passage as subtitles in the SubRip format. Each cue has a few words.

import type { TranscriptView } from './view.ts'

/** The indexes of the first and the last word of a passage. The last word is part of the passage. */
export type Passage = { first: number; last: number }

const longestCue = 80
const longestSeconds = 6

type Cue = { start: number; end: number; text: string; utterance: number }

/** Returns the subtitles of a passage. The times count from the start of the whole recording. */
export function subtitlesOf(view: TranscriptView, { first, last }: Passage): string {
  const cues: Cue[] = []
  for (let word = first; word <= last; word++) {
    const place = view.placeOf(word)
    if (!place) continue
    const { utterance, from } = place
    // The text extends to the start of the next word, so that it includes the punctuation behind this word.
    const next = view.placeOf(word + 1)
    const whole = view.utterances[utterance]?.text ?? ''
    const text = whole.slice(from, next?.utterance === utterance ? next.from : undefined)
    const start = view.index.starts[word] ?? 0
    const end = view.index.ends[word] ?? start
    const cue = cues.at(-1)
    const fits =
      cue?.utterance === utterance &&
      (cue.text + text).trim().length <= longestCue &&
      end - cue.start <= longestSeconds
    if (cue && fits) {
      cue.text += text
      cue.end = end
    } else {
      cues.push({ start, end, text, utterance })
    }
  }
  return cues
    .map(({ start, end, text }, at) => `${at + 1}\n${timeOf(start)} --> ${timeOf(end)}\n${text.trim()}\n`)
    .join('\n')
}

function timeOf(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23).replace('.', ',')
}
