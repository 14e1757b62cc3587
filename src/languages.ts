// The 119 languages that steno accepts. Whisper supports 100 of these languages. The remaining 19 languages need a
// model of another kind.

const whisper =
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg ' +
  'lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so ' +
  'af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue'

const nineteen = 'ast ceb ckb ff ga ig kam kea ky lg luo nso ny om or umb wo xh zu'

/** Codes that callers may use in place of a code in `languages`. Javanese is `jv` in ISO 639, but `jw` in Whisper. */
const aliases: Record<string, string> = { jv: 'jw' }

export const languages: readonly string[] = [...whisper.split(' '), ...nineteen.split(' ')]

/** The codes that a caller may send: the codes in `languages`, and the keys of `aliases`. */
export const acceptedCodes: readonly string[] = [...languages, ...Object.keys(aliases)]
const accepted = new Set(acceptedCodes)
const knownToWhisper = new Set(whisper.split(' '))

export function isLanguage(code: string): boolean {
  return accepted.has(code)
}

/** Returns the code in `languages` for an alias such as `jv`. Returns any other code unchanged. */
export function listedCode(code: string): string {
  return aliases[code] ?? code
}

/** Returns true if the largest Whisper models support the language. */
export function isKnownToWhisper(code: string): boolean {
  return knownToWhisper.has(listedCode(code))
}

/** Codes that are not accepted (Norwegian Bokmål, Filipino and Mandarin), with the codes in `languages` to use instead. */
const suggestions = new Map([
  ['nb', 'no'],
  ['fil', 'tl'],
  ['cmn', 'zh'],
])

/**
 * Returns the code of the language that a caller probably meant: `en` for `EN`, `en-US`, `eng` or `English`, and `no`
 * for `nb`. Returns null if no language has such a code or name.
 */
export function findMeantLanguage(given: string): string | null {
  try {
    const { language } = new Intl.Locale(given.replaceAll('_', '-'))
    const code = suggestions.get(language) ?? language
    if (isLanguage(code)) return code
  } catch {
    // `Intl.Locale` throws if the text does not have the form of a language code. The text may then be the name of a
    // language.
  }
  const englishNames = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
  const wanted = given.toLowerCase()
  return languages.find(code => englishNames.of(code)?.toLowerCase() === wanted) ?? null
}

/**
 * Returns true if the language is written without spaces between words. The list is the one in Whisper's code. Khmer
 * (`km`) also has no such spaces, but it is not in that list. So the texts of utterances in Khmer are joined with
 * spaces. The words in a Khmer text are found by a dictionary (see `needsWordBreaking`).
 */
export function writtenWithoutSpaces(code: string): boolean {
  return ['zh', 'ja', 'th', 'lo', 'my', 'yue'].includes(code)
}

/**
 * Returns true for Thai, Lao, Khmer and Burmese. They have no spaces between words, and only a dictionary finds where a
 * word ends.
 */
export function needsWordBreaking(code: string): boolean {
  return ['th', 'lo', 'km', 'my'].includes(code)
}
