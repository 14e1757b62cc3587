// Writes a transcript as a subtitle file, in the format SubRip or WebVTT.

import { clock, pad } from './clock.ts'
import { type Cue, cutCues } from './cues.ts'
import { type ExportOptions, showsSpeakers, speakerName } from './export-options.ts'
import type { Transcript } from './transcript.ts'

export function writeSrt(transcript: Transcript, options: ExportOptions): string {
  const named = showsSpeakers(transcript, options)
  return cutCues(transcript, options)
    .map((cue, index) => {
      const said = named && cue.speaker ? `${speakerName(cue.speaker)}: ${cue.text}` : cue.text
      return `${index + 1}\n${times(cue, ',')}\n${withoutArrow(said)}\n`
    })
    .join('\n')
}

export function writeVtt(transcript: Transcript, options: ExportOptions): string {
  const named = showsSpeakers(transcript, options)
  const cues = cutCues(transcript, options).map(cue => {
    const voice = named && cue.speaker ? `<v ${escaped(speakerName(cue.speaker))}>` : ''
    return `\n${times(cue, '.')}\n${voice}${escaped(cue.text)}\n`
  })
  return `WEBVTT\n${cues.join('')}`
}

function times({ startMs, endMs }: Cue, point: ',' | '.'): string {
  const at = (ms: number) => `${clock(ms, true)}${point}${pad(ms % 1000, 3)}`
  return `${at(startMs)} --> ${at(endMs)}`
}

/**
 * Replaces `-->`, and longer arrows, by `->`. SubRip reads a line with `-->` as the times of a cue, and cannot escape
 * `-->`.
 */
function withoutArrow(text: string): string {
  return text.replace(/(?<!-)-{2,}>/g, '->')
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

function escaped(text: string): string {
  return text.replace(/[&<>]/g, character => escapes[character] ?? character)
}
