// The interface of a speech model: the languages that it supports, and the conversion of windows of sound to words
// with times. Whisper, CTC and TDT models implement this interface. docs/engines.md explains how to add another kind.

import type { PlacedText } from './place.ts'
import type { Context } from './prompt.ts'
import type { Recording, Window } from './windows.ts'

export type Listener = {
  /**
   * Called when the recognition has advanced. `done` is the number of samples of the recording that are recognised.
   */
  onSamples(done: number): Promise<void>
  /** Called when there is a warning for the log. `event` is a phrase such as `window doubtful`. */
  onWarning(event: string, fields: Record<string, string | number>): void
}

export type HearOptions = {
  recording: Recording
  /** The code of the spoken language. If it is null, the model detects the language in these windows. */
  language: string | null
  /** If true, the texts are English translations of the speech. */
  translate: boolean
  listener: Listener
}

export type Heard = { language: string; texts: PlacedText[] }

/** The recognition of one recording. */
export type Hearing = {
  /** The number of windows that are recognised together. */
  rows: number
  /** A warning for the caller if the model cannot use the context or a part of the context. Otherwise null. */
  warning: string | null
  hear(windows: readonly Window[], options: HearOptions): Promise<Heard>
}

export type SpeechModel = {
  /** The name of the model in the transcript. */
  name: string
  /** The codes of the languages that the model supports. */
  languages: readonly string[]
  /** True if the model can translate to English. */
  translates: boolean
  /** Starts the recognition of one recording. `context` is the text that the caller supplied. */
  start(context: Context): Hearing
  /** Detects the language of the windows. Null if the model cannot detect languages. */
  detect: ((windows: readonly Window[], recording: Recording) => string) | null
  close(): void
}
