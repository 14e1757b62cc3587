// Builds the transcript that the API returns, from the words of a recording. The transcript contains the utterances,
// the labels of the speakers, and times in seconds.

import { writtenWithoutSpaces } from '../languages.ts'
import { endsSentence } from '../transcripts/sentence.ts'
import type { Transcript, Utterance, Word } from '../transcripts/transcript.ts'
import { sampleRate, seconds, utterancePause } from './audio.ts'
import type { PlacedText } from './hear/place.ts'
import { speakersOf } from './who/speakers.ts'
import type { Turn } from './who/turns.ts'

/** The maximum length of an utterance, in samples. A longer utterance is divided, even inside a sentence. */
const utteranceMax = 30 * sampleRate
const shortest = 0.01 * sampleRate

export type RecordingFacts = {
  language: string
  samples: number
  /**
   * If true, each utterance contains the list of its words. If false, each utterance has an empty list of words. The
   * text of the utterance is the same in both cases.
   */
  align: boolean
  /**
   * The turns in the recording: the spans in which one speaker talks. Null if the caller did not ask for diarization.
   */
  turns: readonly Turn[] | null
}

/** A word with the number of its speaker. Speakers are numbered from 0. Without diarization, `speaker` is undefined. */
type Attributed = PlacedText & { speaker?: number | undefined }

/** The words of one utterance. An utterance has at least one word. */
type Group = [Attributed, ...Attributed[]]

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

/**
 * Builds the utterances of a recording during its transcription. These utterances have no speakers, because the
 * speakers are known only at the end. An utterance is complete when a later word belongs to the next utterance.
 */
export class UtterancesSoFar {
  readonly #align: boolean
  /** The words of the last utterance. This utterance is not complete: later words may belong to it. */
  #open: Attributed[] = []

  constructor({ align }: { align: boolean }) {
    this.#align = align
  }

  /** Adds the next words of the recording. Returns the utterances that are complete because of these words. */
  add(placed: readonly PlacedText[], language: string): Utterance[] {
    const before = this.#open.at(-1)?.to ?? 0
    const words = [...this.#open, ...inOrder(placed, { samples: Number.POSITIVE_INFINITY, before })]
    const groups = groupWords(words)
    this.#open = groups.pop() ?? []
    return groups.map(group => utteranceOf(group, this.#align, language))
  }

  /**
   * Returns the utterance that is not complete yet, as a list with one element. The list is empty if the recording has
   * no words. `samples` is the length of the recording.
   */
  end(language: string, samples: number): Utterance[] {
    const words = inOrder(this.#open, { samples, before: 0 })
    return groupWords(words).map(group => utteranceOf(group, this.#align, language))
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

function labelOf(speaker: number): string {
  return `SPEAKER ${speaker + 1}`
}

/**
 * Removes words without text. Corrects the times of the other words: no word begins before the end of the word before
 * it, and no word ends after the recording. `before` is the end of the word before the first one. `samples` is the
 * length of the recording.
 */
function inOrder(
  placed: readonly PlacedText[],
  { samples, before: start }: { samples: number; before: number },
): PlacedText[] {
  let before = start
  const ordered: PlacedText[] = []
  for (const text of placed) {
    if (text.text.trim() === '') continue
    const from = Math.min(Math.max(text.from, before), samples)
    const to = Math.min(Math.max(text.to, from + shortest), samples)
    before = to
    ordered.push({ ...text, from, to })
  }
  return ordered
}

function groupWords(words: readonly Attributed[]): Group[] {
  const groups: Group[] = []
  for (const word of words) {
    const group = groups.at(-1)
    if (group && continues(group, word)) group.push(word)
    else groups.push([word])
  }
  return groups
}

function continues(group: Group, word: Attributed): boolean {
  const last = lastOf(group)
  return (
    word.from - last.to < utterancePause &&
    word.speaker === last.speaker &&
    word.to - group[0].from < utteranceMax &&
    !endsSentence(textOf(group))
  )
}

function utteranceOf(group: Group, align: boolean, language: string): Utterance {
  const known = group.map(({ probability }) => probability).filter(probability => probability !== null)
  const mean = known.reduce((sum, probability) => sum + probability, 0) / known.length
  const text = textOf(group)
  const [{ from, speaker }] = group
  return {
    start: rounded(seconds(from)),
    end: rounded(seconds(lastOf(group).to)),
    text: (writtenWithoutSpaces(language) ? text : text.replace(/\s+/g, ' ')).trim(),
    speaker: speaker === undefined ? null : labelOf(speaker),
    confidence: known.length > 0 ? rounded(mean) : null,
    words: align ? group.map(wordOf) : [],
  }
}

function textOf(group: Group): string {
  return group.map(({ text }) => text).join('')
}

function lastOf(group: Group): Attributed {
  return group.at(-1) ?? group[0]
}

function wordOf({ text, from, to, probability, speaker }: Attributed): Word {
  return {
    word: text.trim(),
    start: rounded(seconds(from)),
    end: rounded(seconds(to)),
    confidence: probability === null ? null : rounded(probability),
    ...(speaker === undefined ? {} : { speaker: labelOf(speaker) }),
  }
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
