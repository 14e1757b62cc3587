// The automatic scrolling of a transcript: the page follows the spoken words until the person scrolls.

import { signal } from '@preact/signals'

export class Following {
  readonly isOn = signal(true)
  /**
   * False if the sentence that the player is playing is not visible. Updated only while the page does not follow the
   * spoken words.
   */
  readonly isSpokenVisible = signal(true)
  /**
   * Observes whether the sentence that the player is playing is visible. The margins exclude the areas that the header
   * and the player cover.
   */
  readonly #watcher = new IntersectionObserver(
    entries => (this.isSpokenVisible.value = entries.at(-1)?.isIntersecting ?? true),
    { rootMargin: '-56px 0px -112px' },
  )
  /** The element of the utterance that the player is playing. Null before the first utterance. */
  #sentence: HTMLElement | null = null

  set(isOn: boolean): void {
    if (isOn) this.#watcher.disconnect()
    else if (this.isOn.value) this.#watch()
    this.isOn.value = isOn
  }

  /** Called when the player begins to play another sentence. */
  speak(sentence: HTMLElement): void {
    this.#sentence = sentence
    // While the page follows the spoken words, the spoken sentence is always visible and need not be observed.
    if (!this.isOn.value) this.#watch()
  }

  close(): void {
    this.#watcher.disconnect()
  }

  #watch(): void {
    this.#watcher.disconnect()
    if (this.#sentence) this.#watcher.observe(this.#sentence)
  }
}
