// What passes between the service and whoever turns sound into text.

import type { Transcript } from '../transcripts/transcript.ts'

export type TranscribeInput = {
  /** The media file as it came in; the engine decodes it itself. */
  path: string
  durationMs: number
  /** One of the 119 codes, or null for detection. */
  language: string | null
  diarize: boolean
  speakerCount: number | null
  align: boolean
}

export type TranscribeOptions = {
  signal: AbortSignal
  /** A sentence for people: `Transcribing 42 % (12:30 of 29:48)`. */
  onProgress: (progress: string) => void
}

/** Everything that /v1/ready, metrics and the log say of the engine. */
export type EngineState = {
  ready: boolean
  /** Why it is not ready, or what stands out: a model still being pulled, the built-in model serving. */
  message: string
  model: string | null
  device: string | null
}

export type Engine = {
  /** How many jobs it works on at once. */
  capacity: number
  state(): EngineState
  /** Rejects with a JobFailure when the job cannot be done, with the signal's reason when it was stopped. */
  transcribe(input: TranscribeInput, options: TranscribeOptions): Promise<Transcript>
  close(): Promise<void>
}
