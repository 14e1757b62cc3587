// Writes a transcript as SubRip, WebVTT or plain text.

import { runAtOnce, type Steps } from '../base/steps.ts'
import type { ExportOptions } from './export-options.ts'
import { writeSrt, writeVtt } from './subtitle-files.ts'
import { writeText } from './text-file.ts'
import type { Transcript } from './transcript.ts'

type Write<Result> = (transcript: Transcript, options: ExportOptions) => Result

type Exporter = {
  type: string
  write: Write<string>
  /** Writes the same text as `write`, but in steps. The server can handle other events between two steps. */
  writeInSteps: Write<Steps<string>>
}

export const exporters = {
  srt: exporter('text/plain; charset=utf-8', writeSrt),
  vtt: exporter('text/vtt; charset=utf-8', writeVtt),
  text: exporter('text/plain; charset=utf-8', writeText),
}

function exporter(type: string, writeInSteps: Write<Steps<string>>): Exporter {
  return { type, writeInSteps, write: (transcript, options) => runAtOnce(writeInSteps(transcript, options)) }
}

export type ExportFormat = keyof typeof exporters
