// Groups the words of a recording into utterances. An utterance ends with a sentence, at a long pause, before another
// speaker, or at the maximum length.

import { writtenWithoutSpaces } from '../languages.ts'
import { endsSentence } from '../transcripts/sentence.ts'
import type { Utterance, Word } from '../transcripts/transcript.ts'
import { sampleRate, seconds, utterancePause } from './audio.ts'
import type { PlacedText } from './hear/place.ts'

/** The maximum length of an utterance, in samples. A longer utterance is divided, even inside a sentence. */
const utteranceMax = 30 * sampleRate
const shortest = 0.01 * sampleRate

/** A word with the number of its speaker. Speakers are numbered from 0. Without diarization, `speaker` is undefined. */
export type Attributed = PlacedText & { speaker?: number | undefined }

/** The words of one utterance. An utterance has at least one word. */
type Group = [Attributed, ...Attributed[]]

export function labelOf(speaker: number): string {
  return `SPEAKER ${speaker + 1}`
}

/**
 * Removes words without text, and corrects the times of the other words. Each word begins at the end of the previous
 * word or later, and ends within the recording. If there is room, the word lasts at least `shortest`. `before` is the
 * end of the word before `placed`. `samples` is the length of the recording.
 */
export function inOrder(
  placed: readonly PlacedText[],
  { samples, before }: { samples: number; before: number },
): PlacedText[] {
  const ordered: PlacedText[] = []
  for (const text of placed) {
    if (text.text.trim() === '') continue
    const from = Math.max(text.from, ordered.at(-1)?.to ?? before)
    ordered.push({ ...text, from, to: Math.max(text.to, from + shortest) })
  }
  let end = samples
  for (const word of ordered.toReversed()) {
    if (word.to <= end) break
    word.to = end
    word.from = Math.max(before, Math.min(word.from, end - shortest))
    end = word.from
  }
  return ordered
}

export function groupWords(words: readonly Attributed[]): Group[] {
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

export function utteranceOf(group: Group, align: boolean, language: string): Utterance {
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

export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
