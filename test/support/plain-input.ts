import type { TranscribeInput } from '../../src/engine/request.ts'

/** Returns the input of a job for the engine. All options have their usual values, and `own` replaces these values. */
export function plainInput(own: Partial<TranscribeInput> = {}): TranscribeInput {
  return {
    path: '',
    durationMs: 10_000,
    language: null,
    diarize: false,
    speakerCount: null,
    align: true,
    prompt: null,
    vocabulary: [],
    ...own,
  }
}
