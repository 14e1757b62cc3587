// Builds a transcript from the words of a recording, or of one of its channels. Also builds the turns of the speakers.

import { joinTexts } from '../transcripts/join-texts.ts'
import type { SpeakerTurn, Transcript } from '../transcripts/transcript.ts'
import { seconds } from './audio.ts'
import type { PlacedText } from './hear/place.ts'
import { type Attributed, groupWords, inOrder, labelOf, rounded, utteranceOf } from './utterances.ts'
import { speakersOf } from './who/speakers.ts'
import type { Turn } from './who/turn.ts'
import type { Timeline } from './who/turns.ts'

export type RecordingFacts = {
  language: string
  samples: number
  /** If false, the list of words of each utterance is empty. */
  align: boolean
  /** The turns that diarization found. Null if the caller asked for no diarization. */
  timeline: Timeline | null
}

export type Assembled = {
  transcript: Transcript
  /** The turns of the speakers, in order of their starts. Empty without diarization. */
  turns: SpeakerTurn[]
}

export function assemble(
  placed: readonly PlacedText[],
  { language, samples, align, timeline }: RecordingFacts,
): Assembled {
  const ordered = inOrder(placed, { samples, before: 0 })
  const speakers = timeline && speakersOf(ordered, timeline)
  const texts = speakers
    ? ordered.map((text, index) => ({ ...text, speaker: speakers.ofWords[index] }))
    : ordered
  const utterances = groupWords(texts).map(group => utteranceOf(group, align, language))
  const transcript = {
    full_transcript: joinTexts(
      utterances.map(({ text }) => text),
      language,
    ),
    language,
    duration_seconds: rounded(seconds(samples)),
    speakers: speakers ? labelsOf(texts) : null,
    utterances,
  }
  return { transcript, turns: (speakers?.turns ?? []).map(labelled) }
}

function labelled({ from, to, speaker }: Turn): SpeakerTurn {
  return { start: rounded(seconds(from)), end: rounded(seconds(to)), speaker: labelOf(speaker) }
}

/** Returns the labels of all speakers who have words, in the order of their first words. */
function labelsOf(texts: readonly Attributed[]): string[] {
  const count = texts.reduce((most, { speaker = -1 }) => Math.max(most, speaker + 1), 0)
  return Array.from({ length: count }, (_, speaker) => labelOf(speaker))
}
