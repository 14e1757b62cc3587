// The recognition of one recording by the speech model that the job needs.

import type { PlacedText } from './hear/place.ts'
import type { Recording } from './hear/recording.ts'
import type { Hearing, Listener, SpeechModel } from './hear/speech-model.ts'
import type { Window } from './hear/windows.ts'
import { detectWith, type LoadedModels, modelFor, translatorsOf } from './loaded-models.ts'
import type { TranscribeInput } from './request.ts'

/**
 * Recognises one recording, and chooses the speech model: the first model that supports the language. Without a
 * language, the first model is used if it can detect languages. If it cannot, another model detects the language before
 * the choice.
 */
export class JobHearing {
  readonly #models: LoadedModels
  readonly #input: TranscribeInput
  readonly #translate: boolean
  readonly #usable: LoadedModels['speech']
  #language: string | null
  /**
   * The speech model that transcribes the recording. Null as long as the choice must wait for the language. This is so
   * if the caller gave no language and the first of the usable models cannot detect it.
   */
  #chosen: SpeechModel | null
  #started: Hearing

  constructor(models: LoadedModels, input: TranscribeInput) {
    const { language, translate = false } = input
    this.#models = models
    this.#input = input
    this.#translate = translate
    this.#language = language
    this.#usable = translate ? translatorsOf(models) : models.speech
    const [first] = this.#usable
    if (language !== null) this.#chosen = modelFor(this.#usable, language)
    else this.#chosen = first.detect ? first : null
    this.#started = (this.#chosen ?? first).start(input)
  }

  /** The name of the speech model that transcribes the recording. */
  get model(): string {
    return (this.#chosen ?? this.#usable[0]).name
  }

  /** A warning for the caller if the speech model does not use the whole prompt and vocabulary. Otherwise null. */
  get warning(): string | null {
    return this.#started.warning
  }

  /**
   * The maximum number of windows in one call of `hear`. A call of `choose`, which chooses the speech model, may change
   * this number.
   */
  get rows(): number {
    return this.#started.rows
  }

  /** The language of the texts: English for a translation, or as long as the language is unknown. */
  get languageOfText(): string {
    return this.#translate ? 'en' : (this.#language ?? 'en')
  }

  /** Detects the language in the first windows of the recording and chooses the model, if none is chosen yet. */
  async choose(windows: readonly Window[], recording: Recording): Promise<void> {
    if (this.#chosen !== null) return
    this.#language = await detectWith(this.#models, windows, recording)
    this.#chosen = modelFor(this.#usable, this.#language)
    const unused = this.#started
    this.#started = this.#chosen.start(this.#input)
    unused.end?.()
  }

  async hear(windows: readonly Window[], recording: Recording, listener: Listener): Promise<PlacedText[]> {
    const options = { recording, language: this.#language, translate: this.#translate, listener }
    const { language, texts } = await this.#started.hear(windows, options)
    this.#language = language
    return texts
  }

  /** Ends the recognition. Must be called once, also after an error. */
  end(): void {
    this.#started.end?.()
  }
}
