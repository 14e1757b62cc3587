// What passes between the service and whoever turns sound into text.

import type { JobErrorCode } from '../errors.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { VoiceChoice } from './models/voices.ts'

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
  /** `ready`, or why speakers cannot be told apart. */
  diarization: string
}

export type Engine = {
  /** How many jobs it works on at once. */
  capacity: number
  state(): EngineState
  /** Calls back each time the engine becomes ready: jobs that wait may come now. */
  onReady?(listener: () => void): void
  /** Rejects with a JobFailure when the job cannot be done, with the signal's reason when it was stopped. */
  transcribe(input: TranscribeInput, options: TranscribeOptions): Promise<Transcript>
  close(): Promise<void>
}

/** What is chosen, then what runs; `auto` takes the next best when a provider cannot load. */
export type DeviceChoice = 'auto' | 'cpu' | 'cuda' | 'webgpu'

/** From the supervisor to its child, each one a plain message. */
export type Order =
  | {
      kind: 'load'
      parent: number
      folder: string
      voices: VoiceChoice
      device: DeviceChoice
      threads: number
      durationMsMax: number
    }
  | { kind: 'job'; id: number; input: TranscribeInput }

/** From the child to its supervisor. */
export type Report =
  | {
      kind: 'loaded'
      device: string
      variant: string
      runtime: string
      diarization: string
      notes: string[]
    }
  | { kind: 'unfit'; message: string }
  | { kind: 'progress'; id: number; seconds: number }
  | { kind: 'warning'; id: number; event: string; fields: Record<string, string | number> }
  | { kind: 'done'; id: number; transcript: Transcript }
  | { kind: 'failed'; id: number; code: JobErrorCode; message: string }
