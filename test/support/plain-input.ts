import type { TranscribeChoices, TranscribeInput } from '../../src/engine/request.ts'

/** The usual choices of a caller for a transcription. */
export const plainChoices: TranscribeChoices = {
  language: null,
  diarize: false,
  speakerCount: null,
  align: true,
  prompt: null,
  vocabulary: [],
}

/** Returns the input of a job for the engine. `own` replaces the usual values. */
export function plainInput(own: Partial<TranscribeInput> = {}): TranscribeInput {
  return { ...plainChoices, path: '', durationMs: 10_000, ...own }
}
