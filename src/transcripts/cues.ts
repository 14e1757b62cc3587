// Divides a transcript into subtitle cues. All words of one cue are from the same utterance.

import type { Steps } from '../base/steps.ts'
import { limits } from '../limits.ts'
import { cleaner } from './pieces.ts'
import { type Spoken, spokenWords } from './spoken-words.ts'
import type { Transcript } from './transcript.ts'

export type Cue = { startMs: number; endMs: number; speaker: string | null; text: string }

export type CueOptions = {
  maxWords: number
  maxChars: number
  maxDurationMs: number
  sentenceAware: boolean
  stripChars: string
}

type OpenCue = Cue & { words: number; characters: number }

/** Returns the subtitle cues of a transcript, ordered by their start times. Each cue ends later than it starts. */
export function* cutCues(transcript: Transcript, options: CueOptions): Steps<Cue[]> {
  const clean = cleaner(options.stripChars)
  const cues: Cue[] = []
  for (const utterance of transcript.utterances) {
    cues.push(...cut(spokenWords(utterance, clean), options))
    yield
  }
  return giveLength(cues.sort((one, other) => one.startMs - other.startMs))
}

function cut(words: Spoken[], options: CueOptions): Cue[] {
  const { maxWords, maxChars, maxDurationMs, sentenceAware, stripChars } = options
  const cues: Cue[] = []
  let cue: OpenCue | null = null
  const keepsSpaces = !stripChars.includes(' ')
  let spaced = false
  for (const word of words) {
    spaced ||= word.spaced && keepsSpaces
    if (word.text !== '') {
      const characters = length(word.text)
      const added = characters + (spaced ? 1 : 0)
      if (
        cue === null ||
        cue.speaker !== word.speaker ||
        cue.words + 1 > maxWords ||
        cue.characters + added > maxChars ||
        word.endMs - cue.startMs > maxDurationMs
      ) {
        const { startMs, endMs, speaker, text } = word
        const before = cues.at(-1)
        if (before) before.endMs = Math.min(before.endMs, startMs)
        cue = { startMs, endMs, speaker, text, words: 1, characters }
        cues.push(cue)
      } else {
        cue.text += spaced ? ` ${word.text}` : word.text
        cue.endMs = Math.max(cue.endMs, word.endMs)
        cue.words += 1
        cue.characters += added
      }
      spaced = false
    }
    if (sentenceAware && word.endsSentence) cue = null
  }
  return cues.map(({ startMs, endMs, speaker, text }) => ({ startMs, endMs, speaker, text }))
}

/**
 * Extends each cue shorter than `cueVisibleMsMin` to this length. Video players skip a cue of zero length, and viewers
 * cannot see a cue of 10 ms, the shortest length of a word. If the same speaker's next cue starts inside the extended
 * cue, the extended cue ends there.
 */
function giveLength(cues: Cue[]): Cue[] {
  const nextMs = new Map<string | null, number>()
  for (const cue of cues.toReversed()) {
    const next = nextMs.get(cue.speaker) ?? Number.POSITIVE_INFINITY
    const wantedMs = cue.startMs + limits.cueVisibleMsMin
    cue.endMs = Math.max(cue.endMs, next > cue.startMs ? Math.min(wantedMs, next) : wantedMs)
    nextMs.set(cue.speaker, cue.startMs)
  }
  return cues
}

/** Returns the number of Unicode code points of a text. A surrogate pair counts as one character. */
function length(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}
