// Words and spans of text to the transcript: utterances are sentences or what lies between pauses. The only
// file of the engine that counts in seconds.

import { writtenWithoutSpaces } from '../languages.ts'
import { endsSentence, sentencesOf } from '../transcripts/sentence.ts'
import type { Transcript, Utterance, Word } from '../transcripts/transcript.ts'
import { sampleRate } from './audio.ts'
import { speakersOf } from './who/speakers.ts'
import type { Turn } from './who/turns.ts'

/** Text with its place in the recording, in samples; a word, or a stretch of text when words were not asked for. */
export type Said = {
  text: string
  from: number
  to: number
  probability: number | null
  /** From 0, when speakers were told apart. */
  speaker?: number
}

/** A pause this long ends an utterance, whatever was said; so does a sentence, and so does this much talk. */
const pauseMax = 1.2 * sampleRate
const utteranceMax = 30 * sampleRate
const shortest = 0.01 * sampleRate

export type Facts = {
  language: string
  samples: number
  align: boolean
  /** Who spoke when; null when nobody asked. */
  turns: readonly Turn[] | null
}

export function assemble(said: readonly Said[], { language, samples, align, turns }: Facts): Transcript {
  const orderly = turns ? withSpeakers(inOrder(said, samples), turns) : inOrder(said, samples)
  const utterances = (align ? groupWords(orderly) : splitTexts(orderly)).map(group =>
    utteranceOf(group, align, language),
  )
  const spaced = utterances.map(each => each.text)
  return {
    full_transcript: spaced.join(writtenWithoutSpaces(language) ? '' : ' '),
    language,
    duration_seconds: round(samples),
    speakers: turns ? speakersIn(orderly) : null,
    utterances,
  }
}

function withSpeakers(said: readonly Said[], turns: readonly Turn[]): Said[] {
  const speakers = speakersOf(said, turns)
  return said.map((each, index) => ({ ...each, speaker: speakers[index]! }))
}

/** Numbered by their first words, so in order. */
function speakersIn(said: readonly Said[]): string[] {
  const count = said.reduce((most, { speaker = -1 }) => Math.max(most, speaker + 1), 0)
  return Array.from({ length: count }, (_, speaker) => labelOf(speaker))
}

function labelOf(speaker: number): string {
  return `SPEAKER ${speaker + 1}`
}

/** Times that only go forward, inside the file, each with a little length. */
export function inOrder(said: readonly Said[], samples: number): Said[] {
  let before = 0
  const orderly: Said[] = []
  for (const each of said) {
    if (each.text.trim() === '') continue
    const from = Math.min(Math.max(each.from, before), samples)
    const to = Math.min(Math.max(each.to, from + shortest), samples)
    before = to
    orderly.push({ ...each, from, to })
  }
  return orderly
}

function groupWords(words: readonly Said[]): Said[][] {
  const groups: Said[][] = []
  for (const word of words) {
    const group = groups.at(-1)
    const last = group?.at(-1)
    const goesOn =
      group &&
      last &&
      word.from - last.to < pauseMax &&
      word.speaker === last.speaker &&
      word.to - group[0]!.from < utteranceMax &&
      !endsSentence(group.map(each => each.text).join(''))
    if (goesOn) group.push(word)
    else groups.push([word])
  }
  return groups
}

/** Without word times a stretch of text is split at its sentences, its time shared out by their length. */
function splitTexts(texts: readonly Said[]): Said[][] {
  return texts.flatMap(each => {
    const sentences = sentencesOf(each.text)
    const total = sentences.join('').length
    let done = 0
    return sentences.map(text => {
      const at = (length: number) => Math.round(each.from + ((each.to - each.from) * length) / total)
      const from = at(done)
      done += text.length
      return [{ ...each, text, from, to: at(done) }]
    })
  })
}

function utteranceOf(group: readonly Said[], align: boolean, language: string): Utterance {
  const known = group.map(each => each.probability).filter(each => each !== null)
  const mean = known.reduce((sum, each) => sum + each, 0) / known.length
  const text = group.map(each => each.text).join('')
  const { speaker } = group[0]!
  return {
    start: round(group[0]!.from),
    end: round(group.at(-1)!.to),
    text: (writtenWithoutSpaces(language) ? text : text.replace(/\s+/g, ' ')).trim(),
    speaker: speaker === undefined ? null : labelOf(speaker),
    confidence: known.length > 0 ? rounded(mean) : null,
    words: align ? group.map(wordOf) : [],
  }
}

function wordOf({ text, from, to, probability, speaker }: Said): Word {
  return {
    word: text.trim(),
    start: round(from),
    end: round(to),
    confidence: probability === null ? null : rounded(probability),
    ...(speaker === undefined ? {} : { speaker: labelOf(speaker) }),
  }
}

function round(samples: number): number {
  return rounded(samples / sampleRate)
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
