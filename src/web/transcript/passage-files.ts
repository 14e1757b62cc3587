// Writes a selected passage of a transcript as text or as subtitles. A sentence that is too long for one cue becomes
// several cues of similar length.

import { showClock } from '../base/format.ts'
import { separatorOf } from './document.ts'
import { type Passage, sentencesOf, type Timed } from './passage.ts'
import type { TranscriptView } from './view.ts'

export type PassageOptions = {
  format: 'text' | 'srt' | 'vtt'
  withSpeakers: boolean
  /**
   * Only for the format `text`. If true, each sentence is a paragraph that begins with its time. If false, each turn of
   * a speaker is a paragraph. Without `withSpeakers`, the whole passage is then one paragraph.
   */
  withTimes: boolean
  /** The maximum length of a cue in words, in characters and in seconds. */
  maxWords: number
  maxChars: number
  maxSeconds: number
}

/** The usual limits of subtitles: 84 characters fit into two lines of 42 characters. */
export const usualSubtitles: PassageOptions = {
  format: 'srt',
  withSpeakers: false,
  withTimes: false,
  maxWords: 50,
  maxChars: 84,
  maxSeconds: 6,
}

/** Returns the content of a file with the selected passage. Its times count from the start of the recording. */
export function writePassage(view: TranscriptView, passage: Passage, options: PassageOptions): string {
  const sentences = sentencesOf(view, passage).map(({ speaker, words }) => ({
    name: options.withSpeakers && speaker !== null ? view.options.nameOf(speaker) : null,
    words,
  }))
  if (options.format === 'text') return writeText(sentences, options, separatorOf(view.options.language))
  const cues = sentences.flatMap(({ name, words }) => cuesOf(words, options).map(cue => ({ name, ...cue })))
  if (options.format === 'srt') {
    return cues
      .map(
        ({ name, start, end, text }, at) =>
          `${at + 1}\n${times(start, end, ',')}\n${name ? `${name}: ` : ''}${text.trim()}\n`,
      )
      .join('\n')
  }
  const blocks = cues.map(
    ({ name, start, end, text }) =>
      `\n${times(start, end, '.')}\n${name ? `<v ${escaped(name)}>` : ''}${escaped(text.trim())}\n`,
  )
  return `WEBVTT\n${blocks.join('')}`
}

type Named = { name: string | null; words: Timed[] }

/**
 * Writes the passage as paragraphs. With `withTimes`, each sentence is a paragraph. Otherwise, consecutive sentences
 * with the same `name` are one paragraph.
 */
function writeText(sentences: readonly Named[], { withTimes }: PassageOptions, separator: string): string {
  const paragraphs: { name: string | null; start: number; texts: string[] }[] = []
  for (const { name, words } of sentences) {
    const text = words
      .map(word => word.text)
      .join('')
      .trim()
    const last = paragraphs.at(-1)
    if (last && !withTimes && last.name === name) last.texts.push(text)
    else paragraphs.push({ name, start: words[0]?.start ?? 0, texts: [text] })
  }
  return paragraphs
    .map(({ name, start, texts }) => {
      const time = withTimes ? `[${showClock(start)}] ` : ''
      return `${time}${name ? `${name}: ` : ''}${texts.join(separator)}\n`
    })
    .join('\n')
}

function times(start: number, end: number, point: ',' | '.'): string {
  return `${timeOf(start, point)} --> ${timeOf(end, point)}`
}

function timeOf(seconds: number, point: ',' | '.'): string {
  return new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23).replace('.', point)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/**
 * Divides the words of a sentence into as few cues as the limits allow, of about the same length. A word is never
 * divided.
 */
function cuesOf(words: readonly Timed[], options: PassageOptions, parts = 1): Timed[] {
  const length = words.reduce((sum, { text }) => sum + text.length, 0)
  const cues: (Timed & { count: number })[] = []
  let passed = 0
  for (const word of words) {
    const part = Math.floor(((passed + word.text.length / 2) / length) * parts)
    passed += word.text.length
    const cue = cues[part]
    if (cue) Object.assign(cue, { text: cue.text + word.text, end: word.end, count: cue.count + 1 })
    else cues[part] = { ...word, count: 1 }
  }
  const isLong = ({ start, end, text, count }: Timed & { count: number }) =>
    text.trim().length > options.maxChars || end - start > options.maxSeconds || count > options.maxWords
  return cues.some(isLong) && parts < words.length ? cuesOf(words, options, parts + 1) : cues.filter(Boolean)
}

/** Saves a text as a file on the computer of the person. */
export function saveFile(name: string, content: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([content], { type: 'text/plain' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
