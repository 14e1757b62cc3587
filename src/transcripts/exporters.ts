// Writes a transcript as SubRip, WebVTT or plain text.

import { type Cue, type CueOptions, cutCues } from './cues.ts'
import { cleaner, findPieces, fold, joinPieces, type Piece } from './pieces.ts'
import type { Transcript } from './transcript.ts'

export type ExportOptions = CueOptions & {
  includeSpeakers: 'true' | 'false' | 'auto'
  includeTimestamps: boolean
}

type Exporter = { type: string; write: (transcript: Transcript, options: ExportOptions) => string }

export const exporters = {
  srt: { type: 'text/plain; charset=utf-8', write: writeSrt },
  vtt: { type: 'text/vtt; charset=utf-8', write: writeVtt },
  text: { type: 'text/plain; charset=utf-8', write: writeText },
} as const satisfies Record<string, Exporter>

export type ExportFormat = keyof typeof exporters

function writeSrt(transcript: Transcript, options: ExportOptions): string {
  const named = showsSpeakers(transcript, options)
  return cutCues(transcript, options)
    .map((cue, index) => {
      const said = named && cue.speaker ? `${speakerName(cue.speaker)}: ${cue.text}` : cue.text
      return `${index + 1}\n${times(cue, ',')}\n${withoutArrow(said)}\n`
    })
    .join('\n')
}

function writeVtt(transcript: Transcript, options: ExportOptions): string {
  const named = showsSpeakers(transcript, options)
  const cues = cutCues(transcript, options).map(cue => {
    const voice = named && cue.speaker ? `<v ${escaped(speakerName(cue.speaker))}>` : ''
    return `\n${times(cue, '.')}\n${voice}${escaped(cue.text)}\n`
  })
  return `WEBVTT\n${cues.join('')}`
}

type Paragraph = { startMs: number; speaker: string | null; pieces: Piece[] }

function writeText(transcript: Transcript, options: ExportOptions): string {
  const named = showsSpeakers(transcript, options)
  const said = paragraphs(transcript, options)
  const hours = reachesAnHour(transcript)
  const shown = (options.includeTimestamps ? said : turns(said)).map(({ startMs, speaker, pieces }) => {
    const time = options.includeTimestamps ? `[${clock(startMs, hours)}] ` : ''
    const name = named && speaker ? `${speakerName(speaker)}: ` : ''
    return `${time}${name}${joinPieces(pieces)}\n`
  })
  return shown.join('\n')
}

/**
 * Returns one paragraph for each utterance that has text, ordered by time. The utterances are searched in
 * `full_transcript`, because only this text shows whether white space separates two utterances.
 */
function paragraphs({ full_transcript, utterances }: Transcript, { stripChars }: ExportOptions): Paragraph[] {
  const clean = cleaner(stripChars)
  const keepsSpaces = !stripChars.includes(' ')
  const found = findPieces(
    utterances.map(({ text }) => text ?? ''),
    full_transcript ?? '',
  )
  return utterances
    .map(({ start, speaker, text }, index) => ({
      startMs: Number.isFinite(start) ? Math.max(0, start * 1000) : 0,
      speaker,
      pieces: [{ text: clean(text ?? ''), spaced: keepsSpaces && found[index]?.spaced === true }],
    }))
    .filter(({ pieces: [piece] }) => piece?.text !== '')
    .sort((one, other) => one.startMs - other.startMs)
}

/** Joins consecutive paragraphs of the same speaker into one paragraph. */
function turns(said: Paragraph[]): Paragraph[] {
  const turns: Paragraph[] = []
  for (const { startMs, speaker, pieces } of said) {
    const turn = turns.at(-1)
    if (turn && turn.speaker === speaker) turn.pieces.push(...pieces)
    else turns.push({ startMs, speaker, pieces: [...pieces] })
  }
  return turns
}

function showsSpeakers({ speakers }: Transcript, { includeSpeakers }: ExportOptions): boolean {
  if (includeSpeakers === 'auto') return new Set(speakers).size > 1
  return includeSpeakers === 'true'
}

/**
 * Returns the name of a speaker for exported files: `SPEAKER 1` becomes `Speaker 1`, and other names stay the same.
 */
export function speakerName(label: string): string {
  return fold(label).replace(/^SPEAKER(?= \d+$)/, 'Speaker')
}

function times({ startMs, endMs }: Cue, point: ',' | '.'): string {
  const at = (ms: number) => `${clock(ms, true)}${point}${pad(ms % 1000, 3)}`
  return `${at(startMs)} --> ${at(endMs)}`
}

function clock(ms: number, hours: boolean): string {
  const seconds = Math.floor(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const shown = hours ? [Math.floor(minutes / 60), minutes % 60, seconds % 60] : [minutes, seconds % 60]
  return shown.map(part => pad(part, 2)).join(':')
}

function reachesAnHour({ duration_seconds, utterances }: Transcript): boolean {
  return duration_seconds >= 3600 || utterances.some(({ start, end }) => start >= 3600 || end >= 3600)
}

/** Replaces `-->` by `->`. In SubRip, a line with `-->` is read as the times of a cue, and `-->` cannot be escaped. */
function withoutArrow(text: string): string {
  return text.replace(/-{2,}>/g, '->')
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

function escaped(text: string): string {
  return text.replace(/[&<>]/g, character => escapes[character] ?? character)
}

function pad(number: number, digits: number): string {
  return String(number).padStart(digits, '0')
}
