// Writes a transcript as SubRip, WebVTT or plain text.

import type { ExportOptions } from './export-options.ts'
import { writeSrt, writeVtt } from './subtitle-files.ts'
import { writeText } from './text-file.ts'
import type { Transcript } from './transcript.ts'

type Exporter = { type: string; write: (transcript: Transcript, options: ExportOptions) => string }

export const exporters = {
  srt: { type: 'text/plain; charset=utf-8', write: writeSrt },
  vtt: { type: 'text/vtt; charset=utf-8', write: writeVtt },
  text: { type: 'text/plain; charset=utf-8', write: writeText },
} as const satisfies Record<string, Exporter>

export type ExportFormat = keyof typeof exporters
