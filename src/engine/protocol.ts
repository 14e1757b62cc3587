// The contract between the service and the engine, and the messages between the supervisor and its workers.

import { type Static, Type } from '@sinclair/typebox'
import { nullable } from '../base/schema.ts'
import type { Config } from '../config.ts'
import type { JobErrorCode } from '../errors.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { VoiceChoice } from './models/voices.ts'
import type { Device } from './onnx/session.ts'

export type TranscribeInput = {
  /** The media file as it was received: the engine decodes it. */
  path: string
  durationMs: number
  /** A language code, or null for language detection. */
  language: string | null
  diarize: boolean
  speakerCount: number | null
  align: boolean
  /** Text that could precede the recording: names, style, punctuation. */
  prompt: string | null
  /** Terms that may occur in the recording. */
  vocabulary: readonly string[]
}

export type TranscribeOptions = {
  signal: AbortSignal
  /** Called with the number of seconds that are transcribed. The first call has 0. */
  onSeconds: (seconds: number) => void
}

/** The state of the engine, as /v1/ready, the metrics and the log report it. */
export const engineState = Type.Object({
  ready: Type.Boolean(),
  /** The reason why the engine is not ready, or a notice, such as that the built-in model is in use. */
  message: Type.String(),
  model: nullable(Type.String()),
  device: nullable(Type.String()),
  diarization: Type.String({ description: '`ready`, or why jobs with diarize would fail' }),
})

export type EngineState = Static<typeof engineState>

export type Engine = {
  /** The number of jobs that can run at the same time. */
  capacity: number
  state(): EngineState
  /** The codes of the languages that the loaded model supports; empty before the first load. */
  languages(): readonly string[]
  /** Calls the listener each time the engine becomes ready: waiting jobs can start. */
  onReady(listener: () => void): void
  /** Rejects with a JobFailure when the job cannot be done, with the signal's reason when it was stopped. */
  transcribe(input: TranscribeInput, options: TranscribeOptions): Promise<Transcript>
  close(): Promise<void>
}

/** The facts about a loaded model that a worker reports. */
export type LoadedFacts = {
  device: Device
  variant: string
  /** The version of ONNX Runtime. */
  runtime: string
  diarization: EngineState['diarization']
  /** The codes of the languages that the model supports. */
  languages: string[]
  /** Warnings for the log: devices that cannot be used, and voice models that cannot be loaded. */
  notes: string[]
}

/** A message from the server to a worker. */
export type Order =
  | {
      kind: 'load'
      parent: number
      /** The data folder of a server, which the worker must not read as a whole. */
      dataDir: string | null
      folder: string
      voices: VoiceChoice
      device: Config['device']
      threads: number
      durationMsMax: number
    }
  | { kind: 'job'; id: number; input: TranscribeInput }

/** A message from a worker to the server. */
export type Report =
  | { kind: 'loaded'; facts: LoadedFacts }
  | { kind: 'cannotLoad'; message: string }
  | { kind: 'progress'; id: number; seconds: number }
  | { kind: 'warning'; id: number; event: string; fields: Record<string, string | number> }
  | { kind: 'done'; id: number; transcript: Transcript }
  | { kind: 'failed'; id: number; code: JobErrorCode; message: string }
