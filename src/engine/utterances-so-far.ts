// The utterances of a recording that is still being transcribed.

import type { Utterance } from '../transcripts/transcript.ts'
import type { PlacedText } from './hear/place.ts'
import { type Attributed, groupWords, inOrder, utteranceOf } from './utterances.ts'

/**
 * Builds utterances during the transcription. The utterances have no speakers, because the speakers are known only at
 * the end. An utterance is complete when a later word belongs to the next utterance.
 */
export class UtterancesSoFar {
  readonly #align: boolean
  /** The words of the last utterance. This utterance is not complete: later words may belong to it. */
  #open: Attributed[] = []

  constructor({ align }: { align: boolean }) {
    this.#align = align
  }

  /**
   * Adds the next words of the recording. Returns the utterances that are complete because of these words. `samples` is
   * the length of the recording that has been read so far. No word ends after this length.
   */
  add(placed: readonly PlacedText[], language: string, samples: number): Utterance[] {
    const before = this.#open.at(-1)?.to ?? 0
    const words = [...this.#open, ...inOrder(placed, { samples, before })]
    const groups = groupWords(words)
    this.#open = groups.pop() ?? []
    return groups.map(group => utteranceOf(group, this.#align, language))
  }

  /**
   * Called at the end of the recording. Returns a list with the last utterance. The list is empty if there are no more
   * words. `samples` is the length of the recording.
   */
  end(language: string, samples: number): Utterance[] {
    const words = inOrder(this.#open, { samples, before: 0 })
    return groupWords(words).map(group => utteranceOf(group, this.#align, language))
  }
}
