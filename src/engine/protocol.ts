// The messages between an engine process and its parent process: the server, or a command such as `steno transcribe`.

import type { LogEvent } from '../base/log.ts'
import type { Config } from '../config.ts'
import type { JobErrorCode } from '../errors.ts'
import type { SpeakerTurn, Transcript, Utterance } from '../transcripts/transcript.ts'
import type { EngineState } from './engine.ts'
import type { InstalledModel } from './models/store.ts'
import type { VoiceChoice, VoiceFiles } from './models/voices.ts'
import type { FloatVariant } from './network/source.ts'
import type { Device } from './onnx/session.ts'
import type { TranscribeInput } from './request.ts'

/** The facts that an engine process reports about its loaded models. */
export type LoadedFacts = {
  device: Device
  variant: string
  /** The version of ONNX Runtime that the engine process uses. */
  runtime: string
  diarization: EngineState['diarization']
  /** The codes of the languages that the loaded models support. */
  languages: string[]
  /** True if one of the loaded models can translate to English. */
  translates: boolean
  /** Messages for the log, for example about devices that cannot be used and models that cannot be loaded. */
  notes: string[]
}

/** A message from the parent process to an engine process. */
export type Order =
  | {
      kind: 'load'
      parent: number
      /**
       * The data folder of the server, whose secrets the engine process must not read. Null for a command that runs
       * without a server.
       */
      dataDir: string | null
      /** The name of the first speech model, which a job uses if this model can do the job. */
      name: string
      folder: string
      /** Other speech models, for the languages that the first model does not support. */
      others: InstalledModel[]
      /** The model that detects the language, if no speech model can detect it. */
      detector: InstalledModel | null
      voices: VoiceChoice
      device: Config['device']
      threads: number
      durationMsMax: number
      mediaProgram: Config['mediaProgram']
    }
  /**
   * A job. If `wantsTurns` is true, the engine process also reports the turns of the speakers. Only jobs with
   * diarization or separate channels have turns.
   */
  | { kind: 'job'; id: number; input: TranscribeInput; wantsTurns: boolean }
  | ({ kind: 'print'; parent: number; dataDir: string | null } & PrintOrder)
  | ({ kind: 'compact'; parent: number; dataDir: string | null } & CompactOrder)

/** An order to make the voice print of one person. The process for this order loads no speech model. */
export type PrintOrder = {
  path: string
  /**
   * The spans of the file, in seconds, in which the person of the voice print speaks. Null if they are not known. The
   * speaker with the most speech then counts as this person. A file with much speech of other speakers is refused,
   * because it is not clear which speaker is this person.
   */
  speech: readonly { start: number; end: number }[] | null
  voices: VoiceFiles
  durationMsMax: number
  mediaProgram: Config['mediaProgram']
}

/** An order to write the compact form (8-bit weights) of the model in `folder` into the folder `draft`. */
export type CompactOrder = { folder: string; variant: FloatVariant; draft: string }

/** A voice print: an embedding, the name of its embedding model, and the length of the speech in it. */
export type VoicePrint = { print: number[]; model: string; seconds: number }

/** A message from an engine process to its parent process. */
export type Report =
  | { kind: 'loaded'; facts: LoadedFacts }
  | { kind: 'cannotLoad'; message: string }
  | { kind: 'progress'; id: number; seconds: number }
  | { kind: 'utterances'; id: number; first: number; utterances: Utterance[]; language: string }
  | { kind: 'peaks'; id: number; peaks: Uint8Array }
  | { kind: 'turns'; id: number; turns: SpeakerTurn[] }
  | { kind: 'warning'; id: number; event: string; fields: Record<string, string | number> }
  /** Some utterances of the transcript, in order of time. These utterances are sent before the message `done`. */
  | { kind: 'part'; id: number; utterances: Utterance[] }
  /** The end of a successful job. `transcript` has no utterances, because the messages `part` contained them. */
  | { kind: 'done'; id: number; transcript: Transcript }
  | { kind: 'printed'; print: VoicePrint }
  | { kind: 'notPrinted'; code: JobErrorCode; message: string }
  /**
   * The child process has written the compact form (8-bit weights) of a model. `sha256` is the hash of the written
   * file.
   */
  | { kind: 'compacted'; sha256: string }
  | { kind: 'notCompacted'; message: string }
  | { kind: 'failed'; id: number; code: JobErrorCode; message: string }
  /** An event for the log of the parent process. */
  | ({ kind: 'log' } & LogEvent)
