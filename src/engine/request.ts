// A request to transcribe one recording: the choices of the caller, the media file, and the callbacks that the engine
// calls.

import type { SpeakerTurn, Utterance } from '../transcripts/transcript.ts'
import type { KnownVoice } from './who/known-voices.ts'

export type TranscribeChoices = {
  /** The language of the speech. If it is null, the engine detects the language. */
  language: string | null
  diarize: boolean
  speakerCount: number | null
  align: boolean
  /**
   * A text that the model treats as the text before the recording. The model continues its style and spelling. The
   * transcript has a warning if the model does not use the whole text.
   */
  prompt: string | null
  /**
   * Words and names that may occur in the recording. The transcript has a warning if the model does not use all of
   * them.
   */
  vocabulary: readonly string[]
  /** If true, the transcript is an English translation of the speech. */
  translate?: boolean
}

/** The choices that decide which engine can do a job. An engine may lack a language, translation or diarization. */
export type Needs = Pick<TranscribeChoices, 'language' | 'diarize' | 'translate'>

export type TranscribeInput = TranscribeChoices & {
  /** The path of the media file. */
  path: string
  durationMs: number
  /**
   * If set, the recording has this number of channels, and each channel is transcribed as one speaker. Otherwise the
   * mix of all channels is transcribed.
   */
  channels?: number | null
  /** The enrolled voices whose names may appear in the transcript. Names require `diarize`. */
  knownVoices?: readonly KnownVoice[]
  /**
   * The section that is transcribed, if it is not the whole recording. The times of utterances and speakers count from
   * the start of the section. The times in warnings count from the start of the recording.
   */
  section?: { fromMs: number; toMs: number } | undefined
}

/** The facts that the server needs to give a job to workers on other machines. */
export type HandOver = {
  jobId: string
  /** The worker that claimed the job before the last start of the server, and that may still work on it. */
  worker: string | null
  fence: number
  attempts: number
}

export type TranscribeOptions = {
  signal: AbortSignal
  /**
   * The data with which the server offers the job to workers on other machines. Undefined in a command such as `steno
   * transcribe`.
   */
  handOver?: HandOver
  /** Called each time a worker on another machine claims the job. `fence` is the number of this claim. */
  onClaim?: (fence: number) => void
  /** Called when the transcription has advanced to `seconds` of the recording. The first call has 0 seconds. */
  onSeconds: (seconds: number) => void
  /**
   * Called with the next complete utterances, in order of time. In a job with separate channels, it is called only when
   * all channels are transcribed. `first` is the index in the transcript of the first of these utterances. A retry of
   * the job starts again with `first` 0. `language` is the language of the text.
   */
  onUtterances?: (utterances: readonly Utterance[], first: number, language: string) => void
  /**
   * Called after all sound was transcribed, with the amplitudes from which the web app draws the waveform. Each byte is
   * the highest amplitude in 50 ms of sound, from 0 to 255. A retry of the job can call it again.
   */
  onPeaks?: (peaks: Uint8Array) => void
  /**
   * Called with the turns of the speakers in order of their starts, before the end of a job with diarization or
   * separate channels. A retry of the job can call it again. Each turn has a label such as `SPEAKER 1`, even if the
   * transcript gets the person's name. Not called if a worker on another machine runs the job.
   */
  onTurns?: (turns: SpeakerTurn[]) => void
}
