import type { TranscribeChoices, TranscribeInput } from '../../src/engine/request.ts'

/** The usual values of the choices that a caller has for a transcription. */
export const plainChoices: TranscribeChoices = {
  language: null,
  diarize: false,
  speakerCount: null,
  align: true,
  prompt: null,
  vocabulary: [],
}

/** Returns the input of a job for the engine. All options have their usual values, and `own` replaces these values. */
export function plainInput(own: Partial<TranscribeInput> = {}): TranscribeInput {
  return { ...plainChoices, path: '', durationMs: 10_000, ...own }
}
