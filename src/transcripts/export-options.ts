// The options of an exported file, and the names of speakers in it.

import type { CueOptions } from './cues.ts'
import { fold } from './pieces.ts'
import type { Transcript } from './transcript.ts'

export type ExportOptions = CueOptions & {
  includeSpeakers: 'true' | 'false' | 'auto'
  includeTimestamps: boolean
}

export function showsSpeakers({ speakers }: Transcript, { includeSpeakers }: ExportOptions): boolean {
  if (includeSpeakers === 'auto') return new Set(speakers).size > 1
  return includeSpeakers === 'true'
}

/**
 * Returns the name of a speaker for exported files: `SPEAKER 1` becomes `Speaker 1`. Other names are only normalised
 * with `fold`.
 */
export function speakerName(label: string): string {
  return fold(label).replace(/^SPEAKER(?= \d+$)/, 'Speaker')
}
