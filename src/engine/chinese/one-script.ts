// Writes the transcript of a Chinese recording in one script, simplified or traditional characters. A speech model can
// change the script from one window to the next, or within a window.

import type { PlacedText } from '../hear/place.ts'
import type { Context } from '../hear/prompt.ts'
import type { Script } from './dictionaries.ts'

/** Terms of a vocabulary that name a script, such as `繁體`. */
const scriptNames: Record<Script, RegExp> = {
  simplified: /^[简簡][体體](中文|字)?$/,
  traditional: /^[繁正][体體](中文|字)?$/,
}

/**
 * The script of one recording: simplified or traditional characters. It is the script of most characters of the
 * caller's prompt. If the prompt shows no script, the first term of the vocabulary that names a script decides. Without
 * such a term, it is the script of most characters of the first texts that show a script. If these texts have equally
 * many characters of both scripts, the other terms decide. The script then stays the same, because these texts may
 * already have been reported to the caller.
 */
export class OneScript {
  readonly #context: Context
  #script: Script | null = null

  constructor(context: Context) {
    this.#context = context
  }

  /**
   * Returns the words in the script of the recording, with the same times. `language` is the language of the words.
   * Words of any language but Mandarin Chinese are returned unchanged.
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

/** Returns the script that the first term with the name of a script names. */
function namedScript(vocabulary: readonly string[]): Script | null {
  for (const term of vocabulary) {
    if (scriptNames.simplified.test(term.trim())) return 'simplified'
    if (scriptNames.traditional.test(term.trim())) return 'traditional'
  }
  return null
}
