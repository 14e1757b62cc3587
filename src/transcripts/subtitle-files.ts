// Writes a transcript as a subtitle file, in the format SubRip or WebVTT.

import type { Steps } from '../base/steps.ts'
import { clock, pad } from './clock.ts'
import { type Cue, cutCues } from './cues.ts'
import { type ExportOptions, showsSpeakers, speakerName } from './export-options.ts'
import type { Transcript } from './transcript.ts'

export function* writeSrt(transcript: Transcript, options: ExportOptions): Steps<string> {
  const named = showsSpeakers(transcript, options)
  const written: string[] = []
  for (const cue of yield* cutCues(transcript, options)) {
    const said = named && cue.speaker ? `${speakerName(cue.speaker)}: ${cue.text}` : cue.text
    written.push(`${written.length + 1}\n${times(cue, ',')}\n${withoutArrow(said)}\n`)
    yield
  }
  return written.join('\n')
}

export function* writeVtt(transcript: Transcript, options: ExportOptions): Steps<string> {
  const named = showsSpeakers(transcript, options)
  const written: string[] = []
  for (const cue of yield* cutCues(transcript, options)) {
    const voice = named && cue.speaker ? `<v ${escaped(speakerName(cue.speaker))}>` : ''
    written.push(`\n${times(cue, '.')}\n${voice}${escaped(cue.text)}\n`)
    yield
  }
  return `WEBVTT\n${written.join('')}`
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
