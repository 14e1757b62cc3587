// The formats in which the command `transcribe` writes a transcript.

import { writeCsv, writeMarkdown, writeRttm } from '../../transcripts/documents.ts'
import type { ExportOptions } from '../../transcripts/export-options.ts'
import { exporters } from '../../transcripts/exporters.ts'
import type { SpeakerTurn, Transcript } from '../../transcripts/transcript.ts'
import { UsageError } from '../failure.ts'

type Presentation = {
  title: string
  options: ExportOptions
  /** The turns of the speakers. Empty if the task finds no speakers. */
  turns: readonly SpeakerTurn[]
}

type Written = {
  extension: string
  /** The text between two transcripts on stdout. Null if this format cannot contain several recordings. */
  between: string | null
  write: (transcript: Transcript, as: Presentation) => string
}

const written = {
  text: {
    extension: 'txt',
    between: '\n',
    write: (transcript, { options }) => exporters.text.write(transcript, options),
  },
  srt: {
    extension: 'srt',
    between: null,
    write: (transcript, { options }) => exporters.srt.write(transcript, options),
  },
  vtt: {
    extension: 'vtt',
    between: null,
    write: (transcript, { options }) => exporters.vtt.write(transcript, options),
  },
  json: {
    extension: 'json',
    between: '',
    write: transcript => `${JSON.stringify(transcript, null, 2)}\n`,
  },
  md: { extension: 'md', between: '\n', write: (transcript, { title }) => writeMarkdown(transcript, title) },
  csv: { extension: 'csv', between: null, write: writeCsv },
  rttm: { extension: 'rttm', between: '', write: (_, { turns, title }) => writeRttm(turns, title) },
} as const satisfies Record<string, Written>

export type Format = keyof typeof written
export const formats: Record<Format, Written> = written
export const formatNames = Object.keys(written) as Format[]

/** Parses a list of formats, such as `srt,vtt`. File extensions such as `txt` are also accepted. */
export function readFormats(list: string): Format[] {
  return [...new Set(list.split(',').map(name => readFormat(name.trim())))]
}

/** Returns the format for the extension of a file name. Returns null if no format has this extension. */
export function formatOfFile(path: string): Format | null {
  const [, extension = ''] = /\.(\w+)$/.exec(path) ?? []
  return formatNames.find(name => formats[name].extension === extension.toLowerCase()) ?? null
}

function readFormat(given: string): Format {
  const format = formatNames.find(name => name === given || formats[name].extension === given)
  if (format === undefined) throw new UsageError(`${given} is not one of ${formatNames.join(', ')}`)
  return format
}
