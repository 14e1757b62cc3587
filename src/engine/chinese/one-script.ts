// Writes the transcript of a Chinese recording in one script, simplified or traditional characters. A speech model can
// change the script from one window to the next, or within a window.

import type { PlacedText } from '../hear/place.ts'
import type { Context } from '../hear/prompt.ts'
import type { Script } from './dictionaries.ts'

/**
 * The script of one recording: simplified or traditional characters. It is the script of the caller's prompt and
 * vocabulary. If these have no characters of only one script, it is the script of the first texts that have such
 * characters. It then stays the same, because these texts may already have been reported to the caller.
 */
export class OneScript {
  readonly #context: string
  #script: Script | null = null

  constructor({ prompt, vocabulary }: Context) {
    this.#context = [prompt ?? '', ...vocabulary].join(' ')
  }

  /**
   * Returns the words in the script of the recording, with the same times. `language` is the language of the words.
   * Words of any language but Mandarin Chinese are returned unchanged.
   */
  async unify(words: readonly PlacedText[], language: string): Promise<PlacedText[]> {
    if (language !== 'zh') return [...words]
    const { convertTo, mainScript } = await import('./convert.ts')
    const text = words.flatMap((word, index) => {
      const pause = word.from - (words[index - 1]?.to ?? 0)
      return [...word.text].map((character, at) => ({ character, pause: at === 0 ? pause : 0 }))
    })
    this.#script ??= mainScript(this.#context) ?? mainScript(words.map(word => word.text).join(''))
    if (this.#script === null) return [...words]
    const converted = convertTo(this.#script, text)
    let at = 0
    return words.map(word => {
      const from = at
      at += [...word.text].length
      return { ...word, text: converted.slice(from, at).join('') }
    })
  }
}
