// Writes a transcript as Markdown, as a CSV table, or as a list of speaker turns in RTTM (Rich Transcription Time
// Marked).

import { clock } from './clock.ts'
import { speakerName } from './export-options.ts'
import { joinTexts } from './join-texts.ts'
import type { SpeakerTurn, Transcript } from './transcript.ts'

/**
 * Returns a Markdown page with `title` as its heading. Each turn of a speaker, and each utterance without a speaker, is
 * a paragraph.
 */
export function writeMarkdown({ utterances, language }: Transcript, title: string): string {
  const turns: { speaker: string | null; start: number; texts: string[] }[] = []
  for (const { speaker, start, text } of utterances) {
    const turn = turns.at(-1)
    if (turn && turn.speaker === speaker && speaker !== null) turn.texts.push(text)
    else turns.push({ speaker, start, texts: [text] })
  }
  const paragraphs = turns.map(({ speaker, start, texts }) => {
    const name = speaker === null ? '' : `**${markdown(speakerName(speaker))}** `
    return `${name}_${clock(start * 1000, true)}_ ${markdown(joinTexts(texts, language))}\n`
  })
  return [`# ${markdown(title)}\n`, ...paragraphs].join('\n')
}

/** Returns a CSV table with a header and one row for each utterance. Line ends and quotation marks follow RFC 4180. */
export function writeCsv({ utterances }: Transcript): string {
  const rows = utterances.map(({ start, end, speaker, text }) =>
    [start.toFixed(3), end.toFixed(3), speaker ?? '', text].map(cell).join(','),
  )
  return ['start,end,speaker,text', ...rows].map(row => `${row}\r\n`).join('')
}

/**
 * Returns the turns of the speakers in RTTM (Rich Transcription Time Marked), one line for each turn. Spaces separate
 * the fields, so white space inside a field becomes an underscore.
 */
export function writeRttm(turns: readonly SpeakerTurn[], title: string): string {
  return turns
    .map(({ start, end, speaker }) => {
      const times = `${start.toFixed(3)} ${(end - start).toFixed(3)}`
      return `SPEAKER ${field(title)} 1 ${times} <NA> <NA> ${field(speaker)} <NA> <NA>\n`
    })
    .join('')
}

/** Escapes special characters of Markdown. Replaces each run of white space with one space. */
function markdown(text: string): string {
  return text.replace(/[\\`*_[\]<>#|]/g, '\\$&').replace(/\s+/g, ' ')
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function field(text: string): string {
  return text.replace(/\s+/g, '_') || '_'
}
