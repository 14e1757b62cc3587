// The interface of the engine that the server uses, and the messages between the server and its engine processes.

import { type Static, Type } from '@sinclair/typebox'
import { nullable } from '../base/schema.ts'
import type { Config } from '../config.ts'
import type { JobErrorCode } from '../errors.ts'
import type { Transcript, Utterance } from '../transcripts/transcript.ts'
import type { InstalledModel } from './models/store.ts'
import type { VoiceChoice, VoiceFiles } from './models/voices.ts'
import type { FloatVariant } from './network/source.ts'
import type { Device } from './onnx/session.ts'
import type { KnownVoice } from './who/prints.ts'

/** What a caller can choose for one transcription. */
export type TranscribeChoices = {
  /** The language code that the caller gave. If it is null, the engine detects the language. */
  language: string | null
  diarize: boolean
  speakerCount: number | null
  align: boolean
  /**
   * A text that the model treats as if it came before the recording. The model continues its style, its punctuation and
   * its spelling of names. Null if the caller gave no such text.
   */
  prompt: string | null
  /** Words and names that may occur in the recording. */
  vocabulary: readonly string[]
  /**
   * If true, the transcript is an English translation of the speech. If false or missing, it is in the language of the
   * speech.
   */
  translate?: boolean
}

export type TranscribeInput = TranscribeChoices & {
  /** The path of the media file that was uploaded or downloaded for the job. The engine decodes this file. */
  path: string
  durationMs: number
  /**
   * The number of channels of the file, if each channel is transcribed as a separate speaker. If it is null or missing,
   * the mix of all channels is transcribed.
   */
  channels?: number | null
  /**
   * The enrolled voices whose names may appear in the transcript. Empty or missing if the caller did not ask for names.
   * Names require `diarize`.
   */
  knownVoices?: readonly KnownVoice[]
  /**
   * The section of the recording that is transcribed. The times in the transcript count from the start of this section.
   * If it is undefined or missing, the whole recording is transcribed.
   */
  section?: { fromMs: number; toMs: number } | undefined
}

/** The facts that the server needs to give a job to workers on other machines. */
export type HandOver = {
  jobId: string
  /**
   * The worker on another machine that claimed the job before the last start of the server, and that may still work on
   * the job. Null if no worker claimed it.
   */
  worker: string | null
  fence: number
  attempts: number
}

export type TranscribeOptions = {
  signal: AbortSignal
  /** Missing in a command such as `steno transcribe`, because a command transcribes without a job. */
  handOver?: HandOver
  /** Called each time a worker on another machine claims the job. `fence` is the number of this claim. */
  onClaim?: (fence: number) => void
  /**
   * Called when the transcription has advanced. `seconds` is the length of the transcribed part of the recording. In
   * the first call, `seconds` is 0.
   */
  onSeconds: (seconds: number) => void
  /**
   * Called when more utterances are complete. `utterances` are in order of time, and have no speakers. `first` is the
   * index in the transcript of the first utterance in `utterances`. When the job is retried, the calls start again with
   * `first` 0.
   */
  onUtterances?: (utterances: readonly Utterance[], first: number) => void
  /**
   * Called once, after all sound was read. Each byte of `peaks` is the highest amplitude in 50 ms of sound, from 0 to
   * 255.
   */
  onPeaks?: (peaks: Uint8Array) => void
}

/** The state of the engine, as it is reported by /v1/ready, by the metrics and in the log. */
export const engineState = Type.Object({
  ready: Type.Boolean(),
  /**
   * If the engine is not ready, the reason. If the engine is ready, the word `ready` or a notice for the operator, such
   * as that the built-in model is in use.
   */
  message: Type.String(),
  model: nullable(Type.String()),
  device: nullable(Type.String()),
  diarization: Type.String({ description: '`ready`, or why jobs with diarize would fail' }),
})

export type EngineState = Static<typeof engineState>

export type Engine = {
  /**
   * The number of jobs that can run at the same time. It changes when a worker on another machine connects or
   * disconnects.
   */
  readonly capacity: number
  state(): EngineState
  /** The codes of the languages that the loaded models support. The list is empty until the models are loaded. */
  languages(): readonly string[]
  /** True if a loaded model can translate to English, and false if none can. Null until the models are loaded. */
  translates(): boolean | null
  /** Registers a listener. It is called each time the engine becomes ready, so that waiting jobs can start. */
  onReady(listener: () => void): void
  /**
   * Transcribes one recording. Rejects with a JobFailure if the recording cannot be transcribed. If the signal is
   * aborted, rejects with the reason of the signal.
   */
  transcribe(input: TranscribeInput, options: TranscribeOptions): Promise<Transcript>
  /**
   * Returns true if a worker on another machine may still work on the job. After a restart, the server resumes such a
   * job even if the engine has no free capacity.
   */
  mayBeHeld?(handOver: HandOver): boolean
  /**
   * Returns the ids of the running jobs that no worker works on at the moment. The timeout of a job does not advance
   * during this time.
   */
  waitingJobs?(): string[]
  /** Called when a job has ended and its transcript or its error is stored. */
  ended?(jobId: string): void
  close(): Promise<void>
}

/** The facts that an engine process reports about its loaded models. */
export type LoadedFacts = {
  device: Device
  variant: string
  /** The version of ONNX Runtime that the worker uses. */
  runtime: string
  diarization: EngineState['diarization']
  /** The codes of the languages that the worker's models support. */
  languages: string[]
  /** True if one of the loaded models can translate to English. */
  translates: boolean
  /** Messages for the log about devices that cannot be used and models that cannot be loaded. */
  notes: string[]
}

/** A message from the server to an engine process. */
export type Order =
  | {
      kind: 'load'
      parent: number
      /**
       * The data folder of the server. The engine process must not read the secrets in it. Null for a command such as
       * `steno transcribe`, which has no server.
       */
      dataDir: string | null
      /** The name of the first speech model. This model serves all languages that it supports. */
      name: string
      folder: string
      /** Other speech models, for the languages that the first model does not support. */
      others: InstalledModel[]
      /**
       * The model that detects the language when no speech model can detect it. Null if no such model is needed or
       * installed.
       */
      detector: InstalledModel | null
      voices: VoiceChoice
      device: Config['device']
      threads: number
      durationMsMax: number
      mediaProgram: Config['mediaProgram']
    }
  | { kind: 'job'; id: number; input: TranscribeInput }
  | ({ kind: 'print'; parent: number; dataDir: string | null } & PrintOrder)
  | ({ kind: 'compact'; parent: number; dataDir: string | null } & CompactOrder)

/** An order to make the voice print of one person. The process that receives this order loads no speech model. */
export type PrintOrder = {
  path: string
  /** The spans in which the person speaks, in seconds. If it is null, the file contains no other speaker. */
  speech: readonly { start: number; end: number }[] | null
  voices: VoiceFiles
  durationMsMax: number
  mediaProgram: Config['mediaProgram']
}

/**
 * An order to write the compact form (8-bit weights) of a model into the folder `draft`. `folder` is the model's
 * folder. `variant` is the suffix in the names of the model's float files.
 */
export type CompactOrder = { folder: string; variant: FloatVariant; draft: string }

/**
 * A voice print as the server stores it. `print` is the embedding, `model` the name of the embedding model, and
 * `seconds` the length of the speech from which the embedding was made.
 */
export type VoicePrint = { print: number[]; model: string; seconds: number }

/** A message from an engine process to the server. */
export type Report =
  | { kind: 'loaded'; facts: LoadedFacts }
  | { kind: 'cannotLoad'; message: string }
  | { kind: 'progress'; id: number; seconds: number }
  | { kind: 'utterances'; id: number; first: number; utterances: Utterance[] }
  | { kind: 'peaks'; id: number; peaks: Uint8Array }
  | { kind: 'warning'; id: number; event: string; fields: Record<string, string | number> }
  /**
   * Some utterances of the transcript, in order of time. All messages of this kind are sent before the message `done`.
   */
  | { kind: 'part'; id: number; utterances: Utterance[] }
  /** The end of a job. `transcript` has no utterances in this message, because the messages `part` contained them. */
  | { kind: 'done'; id: number; transcript: Transcript }
  | { kind: 'printed'; print: VoicePrint }
  | { kind: 'notPrinted'; code: JobErrorCode; message: string }
  /** The compact form of a model is written. `sha256` is the hash of the written file. */
  | { kind: 'compacted'; sha256: string }
  | { kind: 'notCompacted'; message: string }
  | { kind: 'failed'; id: number; code: JobErrorCode; message: string }
