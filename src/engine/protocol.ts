// The interface of the engine for the service, and the messages between the supervisor and its workers.

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

/** The choices of a caller for a transcription. */
export type TranscribeChoices = {
  /** A language code, or null for language detection. */
  language: string | null
  diarize: boolean
  speakerCount: number | null
  align: boolean
  /**
   * A text that the model treats as the text before the recording. The model follows its style, its punctuation and
   * the spelling of its names. Null if the caller supplied no prompt.
   */
  prompt: string | null
  /** Terms that may occur in the recording. */
  vocabulary: readonly string[]
  /** If true, the text is an English translation of the speech. Missing means false. */
  translate?: boolean
}

export type TranscribeInput = TranscribeChoices & {
  /** The path of the media file as it was received. The engine decodes this file. */
  path: string
  durationMs: number
  /**
   * The number of channels of the file, if each channel is transcribed separately as one speaker. Otherwise null or
   * missing: the mix of all channels is transcribed.
   */
  channels?: number | null
  /**
   * The voices whose names the transcript may contain. Empty or missing if the caller did not ask for names. Requires
   * `diarize`.
   */
  knownVoices?: readonly KnownVoice[]
  /**
   * The section of the recording that is transcribed. The times in the transcript count from the start of the section.
   * Undefined means the whole recording.
   */
  section?: { fromMs: number; toMs: number } | undefined
}

/** The facts about a job that an engine needs to hand it to workers on other machines. */
export type HandOver = {
  jobId: string
  /**
   * The worker that claimed the job before the last start of the server, and may still work on it. Null if no worker
   * claimed the job.
   */
  worker: string | null
  fence: number
  attempts: number
}

export type TranscribeOptions = {
  signal: AbortSignal
  /** Missing for a command, because it transcribes without a job. */
  handOver?: HandOver
  /** Called at each claim of the job by a worker on another machine. `fence` is the number of this claim. */
  onClaim?: (fence: number) => void
  /**
   * Called when the transcription has advanced. `seconds` is the length of the recording that is transcribed. The
   * first call has 0.
   */
  onSeconds: (seconds: number) => void
  /**
   * Called when utterances are complete. `utterances` are in order, and have no speakers. `first` is the index of the
   * first of them in the transcript. When the job is retried, `first` starts again at 0.
   */
  onUtterances?: (utterances: readonly Utterance[], first: number) => void
  /**
   * Called once, when all sound is read. `peaks` has one byte for each 50 ms of sound: the highest amplitude, from 0
   * to 255.
   */
  onPeaks?: (peaks: Uint8Array) => void
}

/** The state of the engine, as /v1/ready, the metrics and the log report it. */
export const engineState = Type.Object({
  ready: Type.Boolean(),
  /**
   * The reason why the engine is not ready. If the engine is ready, a notice, such as that the built-in model is in
   * use.
   */
  message: Type.String(),
  model: nullable(Type.String()),
  device: nullable(Type.String()),
  diarization: Type.String({ description: '`ready`, or why jobs with diarize would fail' }),
})

export type EngineState = Static<typeof engineState>

export type Engine = {
  /**
   * The number of jobs that can run at the same time. It changes when workers on other machines connect or
   * disconnect.
   */
  readonly capacity: number
  state(): EngineState
  /** The codes of the languages that the loaded models support. The list is empty before the first load. */
  languages(): readonly string[]
  /** True if a loaded model can translate, false if none can, and null before the first load. */
  translates(): boolean | null
  /** Registers a listener that is called each time the engine becomes ready. Waiting jobs can then start. */
  onReady(listener: () => void): void
  /**
   * Transcribes one recording. Rejects with a JobFailure if the job cannot be done. Rejects with the reason of the
   * signal if the signal is aborted.
   */
  transcribe(input: TranscribeInput, options: TranscribeOptions): Promise<Transcript>
  /**
   * Returns true if a worker on another machine may still hold the job. After a restart of the server, such a job
   * resumes even if the engine has no free capacity.
   */
  mayBeHeld?(handOver: HandOver): boolean
  /** Returns the ids of the running jobs that no worker holds at the moment. Their timeouts do not advance. */
  waitingJobs?(): string[]
  /** Called when a job has ended and its result is stored. */
  ended?(jobId: string): void
  close(): Promise<void>
}

/** The facts that a worker reports about its loaded models. */
export type LoadedFacts = {
  device: Device
  variant: string
  /** The version of ONNX Runtime. */
  runtime: string
  diarization: EngineState['diarization']
  /** The codes of the languages that the models support. */
  languages: string[]
  /** True if one of the models can translate to English. */
  translates: boolean
  /** Messages for the log: about devices that cannot be used, and about models that cannot be loaded. */
  notes: string[]
}

/** A message from the server to a worker. */
export type Order =
  | {
      kind: 'load'
      parent: number
      /** The data folder of the server, whose secrets the worker must not read. Null for a command. */
      dataDir: string | null
      /** The name of the first speech model, which serves the languages that it supports. */
      name: string
      folder: string
      /** Further speech models, for the languages that the first model does not support. */
      others: InstalledModel[]
      /** The model that detects languages if no speech model does. Null if it is not needed or not installed. */
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

/** An order to make the print of one person's voice. The process that receives it loads no speech model. */
export type PrintOrder = {
  path: string
  /** The spans of the person's speech, in seconds. Null if the person is the only speaker in the file. */
  speech: readonly { start: number; end: number }[] | null
  voices: VoiceFiles
  durationMsMax: number
  mediaProgram: Config['mediaProgram']
}

/**
 * The order to write the compact form of the model in `folder` into the folder `draft`. `variant` is the suffix of the
 * model's float files.
 */
export type CompactOrder = { folder: string; variant: FloatVariant; draft: string }

/**
 * A print in the form in which the server stores it. `model` is the name of the embedding model. `seconds` is the
 * length of the speech in the print.
 */
export type VoicePrint = { print: number[]; model: string; seconds: number }

/** A message from a worker to the server. */
export type Report =
  | { kind: 'loaded'; facts: LoadedFacts }
  | { kind: 'cannotLoad'; message: string }
  | { kind: 'progress'; id: number; seconds: number }
  | { kind: 'utterances'; id: number; first: number; utterances: Utterance[] }
  | { kind: 'peaks'; id: number; peaks: Uint8Array }
  | { kind: 'warning'; id: number; event: string; fields: Record<string, string | number> }
  /** Some utterances of the transcript, in order. All these parts are sent before `done`. */
  | { kind: 'part'; id: number; utterances: Utterance[] }
  /** The end of a job. The utterances of the transcript are missing here, because they were sent in parts. */
  | { kind: 'done'; id: number; transcript: Transcript }
  | { kind: 'printed'; print: VoicePrint }
  | { kind: 'notPrinted'; code: JobErrorCode; message: string }
  /** The compact form is written. The hash is that of its file. */
  | { kind: 'compacted'; sha256: string }
  | { kind: 'notCompacted'; message: string }
  | { kind: 'failed'; id: number; code: JobErrorCode; message: string }
