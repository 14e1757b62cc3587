// Writes the transcript of a Chinese recording in one script: simplified or traditional. A speech model can change the
// script at any word.

import type { PlacedText } from '../hear/place.ts'
import type { Context } from '../hear/prompt.ts'
import type { Script } from './dictionaries.ts'

/**
 * Matches the name of a script, such as `繁體` (traditional characters). Callers can give this name as a term of the
 * vocabulary (the terms that may be said in the recording), to get their text in this script.
 */
const scriptNames: Record<Script, RegExp> = {
  simplified: /^[简簡][体體](中文|字)?$/,
  traditional: /^[繁正][体體](中文|字)?$/,
}

/**
 * The script of one recording. The first of these sources that shows a script decides:
 * - the prompt of the caller, by the script of most of its characters;
 * - the vocabulary, by the first term that is the name of a script, such as `繁體`;
 * - the recognised text, by the script of most of its characters;
 * - the vocabulary, by the script of most of its characters.
 *
 * Characters that both scripts use do not count. A known script never changes, because texts in this script may
 * already have been reported.
 */
export class OneScript {
  readonly #context: Context
  #script: Script | null = null

  constructor(context: Context) {
    this.#context = context
  }

  /**
   * Converts the words to the script of the recording, and keeps their times. Returns the words unchanged if `language`
   * is not Mandarin Chinese (`zh`), or if the script is not yet known. Also returns the words unchanged if none of them
   * has a character that is used in only one script.
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
 * Returns the script that the first matching term of the vocabulary names. For example, `繁體` names traditional
 * characters. Returns null if no term names a script.
 */
function namedScript(vocabulary: readonly string[]): Script | null {
  for (const term of vocabulary) {
    if (scriptNames.simplified.test(term.trim())) return 'simplified'
    if (scriptNames.traditional.test(term.trim())) return 'traditional'
  }
  return null
}
