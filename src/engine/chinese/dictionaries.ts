// The dictionaries of OpenCC that convert between simplified and traditional Chinese characters. Their size is 1.1 MB,
// so this file is imported only when a text is Chinese.

import simplifiedCharacters from 'opencc-js/dict/STCharacters'
import simplifiedPhrases from 'opencc-js/dict/STPhrases'
import traditionalCharacters from 'opencc-js/dict/TSCharacters'
import traditionalPhrases from 'opencc-js/dict/TSPhrases'
import taiwanForms from 'opencc-js/dict/TWVariants'
import openccForms from 'opencc-js/dict/TWVariantsRev'
import openccPhrases from 'opencc-js/dict/TWVariantsRevPhrases'

/** The two scripts of Chinese. */
export type Script = 'simplified' | 'traditional'

/**
 * The dictionaries for each target script, in the order in which they are applied. Each dictionary is a text such as
 * `后来 後來|后 後`. OpenCC has traditional forms of its own, such as `裏`. Three of the dictionaries convert between these
 * forms and the usual forms of Taiwan, such as `裡`.
 */
const sources: Record<Script, string[][]> = {
  simplified: [
    [openccForms, openccPhrases],
    [traditionalCharacters, traditionalPhrases],
  ],
  traditional: [[simplifiedCharacters, simplifiedPhrases], [taiwanForms]],
}

/**
 * Maps texts to replacements with the same number of characters. `longest` is the number of characters of the longest
 * text.
 */
export type Dictionary = { entries: Map<string, string>; longest: number }

const opened = new Map<Script, Dictionary[]>()

/** Returns the dictionaries that convert text to `script`, in order of use. */
export function dictionariesTo(script: Script): Dictionary[] {
  const dictionaries = opened.get(script) ?? sources[script].map(openDictionary)
  opened.set(script, dictionaries)
  return dictionaries
}

function openDictionary(parts: readonly string[]): Dictionary {
  const entries = new Map(parts.flatMap(entriesOf))
  const longest = entries.keys().reduce((most, text) => Math.max(most, [...text].length), 0)
  return { entries, longest }
}

const ofOneScript: Record<Script, ReadonlySet<string>> = {
  simplified: charactersOnlyIn(simplifiedCharacters, simplifiedPhrases),
  traditional: charactersOnlyIn(traditionalCharacters, traditionalPhrases),
}

/**
 * Returns the script of a character that is used in only one script. Returns null for any other character, such as `后`,
 * which both scripts use.
 */
export function scriptOf(character: string): Script | null {
  const isSimplified = ofOneScript.simplified.has(character)
  if (isSimplified === ofOneScript.traditional.has(character)) return null
  return isSimplified ? 'simplified' : 'traditional'
}

/**
 * Returns the characters that only the source script uses. Chinese has two scripts. `characters` and `phrases` are the
 * dictionaries that convert single characters and phrases of the source script to the other script. In an entry such as
 * `后 後`, the left side is the source, and the right side is its replacement. The result has the left sides in
 * `characters`, without the characters on any right side, because these are used in the other script too. Regular
 * expressions search the dictionaries, because a list of all entries would need 12 MB of memory.
 */
function charactersOnlyIn(characters: string, phrases: string): Set<string> {
  const replacements = `${characters}|${phrases}`.replaceAll(/[^|]+ /g, '')
  return new Set(characters.replaceAll(/ [^|]+/g, '')).difference(new Set(replacements))
}

function entriesOf(dictionary: string): [string, string][] {
  return dictionary.split('|').map(entry => {
    const [text = '', replacement = ''] = entry.split(' ')
    return [text, replacement]
  })
}
