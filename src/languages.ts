// The 119 languages: the 100 languages of Whisper, and 19 that Whisper does not support.

const whisper =
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg ' +
  'lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so ' +
  'af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue'

const nineteen = 'ast ceb ckb ff ga ig kam kea ky lg luo nso ny om or umb wo xh zu'

/** Alternative codes that callers may use. `jv` is the ISO code of Whisper's `jw`. */
const aliases: Record<string, string> = { jv: 'jw' }

export const languages: readonly string[] = [...whisper.split(' '), ...nineteen.split(' ')]

/** Every code that a caller may send. */
const accepted = new Set([...languages, ...Object.keys(aliases)])
const knownToWhisper = new Set(whisper.split(' '))

export function isLanguage(code: string): boolean {
  return accepted.has(code)
}

/** Converts a code that a caller sent to the code in the list. */
export function listedCode(code: string): string {
  return aliases[code] ?? code
}

/** Returns true if the largest Whisper models support the language. */
export function isKnownToWhisper(code: string): boolean {
  return knownToWhisper.has(listedCode(code))
}

/** Guesses the code that a caller meant: `en` for `EN`, `en-US` and `eng`. Returns null when there is none. */
export function findMeantLanguage(given: string): string | null {
  try {
    const { language } = new Intl.Locale(given.replaceAll('_', '-'))
    return isLanguage(language) ? language : null
  } catch {
    return null
  }
}

/** Returns true if the language is written without spaces between words. Its text is split by character. */
export function writtenWithoutSpaces(code: string): boolean {
  return ['zh', 'ja', 'th', 'lo', 'my', 'yue'].includes(code)
}

/** Returns true if words have no spaces between them and a dictionary is needed to find them. */
export function needsWordBreaking(code: string): boolean {
  return ['th', 'lo', 'km', 'my'].includes(code)
}
