// Builds the transcript that the API returns, from the words of a recording. The transcript contains the utterances,
// the labels of the speakers, and times in seconds.

import { writtenWithoutSpaces } from '../languages.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import { seconds } from './audio.ts'
import type { PlacedText } from './hear/place.ts'
import { type Attributed, groupWords, inOrder, labelOf, rounded, utteranceOf } from './utterances.ts'
import { speakersOf } from './who/speakers.ts'
import type { Turn } from './who/turn.ts'

export type RecordingFacts = {
  language: string
  samples: number
  /** If true, each utterance contains its words. If false, its list of words is empty. */
  align: boolean
  /** The spans in which one speaker talks. Null if the caller did not ask for diarization. */
  turns: readonly Turn[] | null
}

export function assemble(
  placed: readonly PlacedText[],
  { language, samples, align, turns }: RecordingFacts,
): Transcript {
  const ordered = inOrder(placed, { samples, before: 0 })
  const texts = turns ? withSpeakers(ordered, turns) : ordered
  const utterances = groupWords(texts).map(group => utteranceOf(group, align, language))
  return {
    full_transcript: utterances.map(({ text }) => text).join(writtenWithoutSpaces(language) ? '' : ' '),
    language,
    duration_seconds: rounded(seconds(samples)),
    speakers: turns ? labelsOf(texts) : null,
    utterances,
  }
}

function withSpeakers(texts: readonly PlacedText[], turns: readonly Turn[]): Attributed[] {
  const speakers = speakersOf(texts, turns)
  return texts.map((text, index) => ({ ...text, speaker: speakers[index] }))
}

/** Returns the labels of all speakers, in the order in which the speakers first speak. */
function labelsOf(texts: readonly Attributed[]): string[] {
  const count = texts.reduce((most, { speaker = -1 }) => Math.max(most, speaker + 1), 0)
  return Array.from({ length: count }, (_, speaker) => labelOf(speaker))
}
