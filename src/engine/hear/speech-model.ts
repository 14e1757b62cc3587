// The interface of a speech model, which converts windows of sound to words with times. Whisper, CTC and TDT models
// implement this interface.

import type { PlacedText } from './place.ts'
import type { Context } from './prompt.ts'
import type { Recording } from './recording.ts'
import type { Span } from './speech-spans.ts'
import type { VoiceReading } from './voice-network.ts'
import type { Window } from './windows.ts'

/**
 * - `text doubtful`: the text failed the checks or is incomplete, and further attempts gave no better text.
 * - `speech without text`: voice detection found speech, and the model returned no text for it.
 */
export type SpeechWarning = 'text doubtful' | 'speech without text'

export type Listener = {
  /** Called when the recognition has made progress. `done` is the approximate number of recognised samples. */
  onSamples(done: number): Promise<void>
  /** Called for each span of the recording, in samples, whose text is doubtful or missing. */
  onWarning(kind: SpeechWarning, span: Span): void
  /**
   * Called for each window with the result of the voice network, a small network that counts the voices and computes
   * vectors for them. Diarization uses this result. Never called if the speech model has no voice network. Null if the
   * result is not needed.
   */
  onVoiceReading?: ((window: Window, reading: VoiceReading) => void) | null
}

export type HearOptions = {
  recording: Recording
  /** The code of the spoken language. If null, the model detects the language, if it can. */
  language: string | null
  /** If true, the result is an English translation of the speech. */
  translate: boolean
  listener: Listener
}

export type Heard = { language: string; texts: PlacedText[] }

/** The recognition of one recording by a speech model. */
export type Hearing = {
  /** The maximum number of windows in one call of `hear`. */
  rows: number
  /**
   * A warning for the caller if the model does not use the whole context (the prompt and the vocabulary). Otherwise
   * null.
   */
  warning: string | null
  hear(windows: readonly Window[], options: HearOptions): Promise<Heard>
  /** Ends the recognition. If present, must be called once for each recording, also after an error. */
  end?(): void
}

export type SpeechModel = {
  /** The name of the model in transcripts. */
  name: string
  /** The codes of the languages that the model supports. */
  languages: readonly string[]
  /** True if the model can translate to English. */
  translates: boolean
  /** Starts the recognition of one recording. `context` is the caller's prompt and vocabulary. */
  start(context: Context): Hearing
  /** Detects the language from the sound of the windows. Null if the model cannot detect languages. */
  detect: ((windows: readonly Window[], recording: Recording) => Promise<string>) | null
  close(): void
}
