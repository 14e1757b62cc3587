// Writes the transcript of a Chinese recording in one script, simplified or traditional characters. A speech model can
// change the script from one window to the next, or within a window.

import type { PlacedText } from '../hear/place.ts'
import type { Context } from '../hear/prompt.ts'
import type { Script } from './dictionaries.ts'

/** Matches a term of the vocabulary that is the name of a script, such as `繁體` (traditional characters). */
const scriptNames: Record<Script, RegExp> = {
  simplified: /^[简簡][体體](中文|字)?$/,
  traditional: /^[繁正][体體](中文|字)?$/,
}

/**
 * The script of one recording: simplified or traditional characters. The first of these sources that shows a script
 * decides:
 * - the prompt of the caller, by the script of most of its characters;
 * - the vocabulary, by the first term that is the name of a script, such as `繁體`;
 * - the recognised text, by the script of most of its characters;
 * - the vocabulary, by the script of most of its characters.
 *
 * A known script does not change any more, because the first texts may already have been reported to the caller.
 */
export class OneScript {
  readonly #context: Context
  #script: Script | null = null

  constructor(context: Context) {
    this.#context = context
  }

  /**
   * Returns the words with the same times, all in one script: simplified or traditional Chinese characters. All words
   * of a recording get the same script as soon as this script is known. `language` is the language of the words. If it
   * is not Mandarin Chinese (`zh`), the words are returned unchanged. Words are also returned unchanged if the script
   * is not yet known, or if no character in them belongs to only one of the scripts.
   */
  async unify(words: readonly PlacedText[], language: string): Promise<PlacedText[]> {
    if (language !== 'zh') return [...words]
    const { convertTo, mainScript, showsScript } = await import('./convert.ts')
    const spoken = words.map(word => word.text).join('')
    if (!showsScript(spoken)) return [...words]
    const { prompt, vocabulary } = this.#context
    this.#script ??= mainScript(prompt ?? '') ?? namedScript(vocabulary) ?? mainScript(spoken)
    this.#script ??= mainScript(vocabulary.join(' '))
    if (this.#script === null) return [...words]
    const text = words.flatMap((word, index) => {
      const pause = word.from - (words[index - 1]?.to ?? 0)
      return [...word.text].map((character, at) => ({ character, pause: at === 0 ? pause : 0 }))
    })
    const converted = convertTo(this.#script, text)
    let at = 0
    return words.map(word => {
      const from = at
      at += [...word.text].length
      return { ...word, text: converted.slice(from, at).join('') }
    })
  }
}

/**
 * Finds the first term of the vocabulary that is the name of a script, and returns the script with this name. For
 * example, the term `繁體` is the name of traditional characters. Returns null if no term is the name of a script.
 */
function namedScript(vocabulary: readonly string[]): Script | null {
  for (const term of vocabulary) {
    if (scriptNames.simplified.test(term.trim())) return 'simplified'
    if (scriptNames.traditional.test(term.trim())) return 'traditional'
  }
  return null
}
