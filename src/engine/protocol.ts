// The interface of the engine for the service, and the messages between the supervisor and its workers.

import { type Static, Type } from '@sinclair/typebox'
import { nullable } from '../base/schema.ts'
import type { Config } from '../config.ts'
import type { JobErrorCode } from '../errors.ts'
import type { Transcript, Utterance } from '../transcripts/transcript.ts'
import type { InstalledModel } from './models/store.ts'
import type { VoiceChoice } from './models/voices.ts'
import type { Device } from './onnx/session.ts'

export type TranscribeInput = {
  /** The path of the media file as it was received. The engine decodes this file. */
  path: string
  durationMs: number
  /** A language code, or null for language detection. */
  language: string | null
  diarize: boolean
  speakerCount: number | null
  align: boolean
  /**
   * Text in the style of the recording, with names and punctuation, as if it came before the recording. Null
   * when the caller supplied none.
   */
  prompt: string | null
  /** Terms that may occur in the recording. */
  vocabulary: readonly string[]
  /** True if the text is to be an English translation of what is said. Missing means false. */
  translate?: boolean
  /**
   * The number of channels, if each channel is heard on its own as one speaker. Missing or null for the mix of
   * all channels.
   */
  channels?: number | null
  /** The part of the recording that is transcribed. Its times begin at zero. Undefined means all of it. */
  section?: { fromMs: number; toMs: number } | undefined
}

export type TranscribeOptions = {
  signal: AbortSignal
  /** Called with the number of seconds of the recording that are transcribed. The first call has 0. */
  onSeconds: (seconds: number) => void
  /**
   * Called with the utterances that are complete, in order and without speakers. `first` is the index of the
   * first of them. After a retry of the job the calls begin again with 0.
   */
  onUtterances?: (utterances: readonly Utterance[], first: number) => void
  /** Called once, before the end, with one byte per 50 ms: the highest amplitude, from 0 to 255. */
  onPeaks?: (peaks: Uint8Array) => void
}

/** The state of the engine, as /v1/ready, the metrics and the log report it. */
export const engineState = Type.Object({
  ready: Type.Boolean(),
  /**
   * The reason why the engine is not ready. If the engine is ready: a notice, for example that the built-in
   * model is in use.
   */
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
  /** Returns false if the loaded model cannot translate; null before the first load. */
  translates(): boolean | null
  /** Registers a listener that is called each time the engine becomes ready. Waiting jobs can then start. */
  onReady(listener: () => void): void
  /**
   * Transcribes one recording. Rejects with a JobFailure when the job cannot be done. Rejects with the
   * signal's reason when the signal was aborted.
   */
  transcribe(input: TranscribeInput, options: TranscribeOptions): Promise<Transcript>
  close(): Promise<void>
}

/** What a worker reports about its loaded model. */
export type LoadedFacts = {
  device: Device
  variant: string
  /** The version of ONNX Runtime. */
  runtime: string
  diarization: EngineState['diarization']
  /** The codes of the languages that the model supports. */
  languages: string[]
  /** True if the model can translate to English. */
  translates: boolean
  /** Warnings for the log, about devices that cannot be used and voice models that cannot be loaded. */
  notes: string[]
}

/** A message from the server to a worker. */
export type Order =
  | {
      kind: 'load'
      parent: number
      /** The data folder of the server; the worker must not read the secrets in it. Null for a command. */
      dataDir: string | null
      /** The speech model that is preferred. */
      name: string
      folder: string
      /** Further speech models, for languages that the first model does not support. */
      others: InstalledModel[]
      /** The model that detects languages for the others. Null if no such model is needed or installed. */
      detector: InstalledModel | null
      voices: VoiceChoice
      device: Config['device']
      threads: number
      durationMsMax: number
      mediaProgram: Config['mediaProgram']
    }
  | { kind: 'job'; id: number; input: TranscribeInput }

/** A message from a worker to the server. */
export type Report =
  | { kind: 'loaded'; facts: LoadedFacts }
  | { kind: 'cannotLoad'; message: string }
  | { kind: 'progress'; id: number; seconds: number }
  | { kind: 'utterances'; id: number; first: number; utterances: Utterance[] }
  | { kind: 'peaks'; id: number; peaks: Uint8Array }
  | { kind: 'warning'; id: number; event: string; fields: Record<string, string | number> }
  | { kind: 'done'; id: number; transcript: Transcript }
  | { kind: 'failed'; id: number; code: JobErrorCode; message: string }
