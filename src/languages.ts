// The 119 languages: Whisper's own hundred, and the nineteen that run with the nearest one a model knows.

const whisper =
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg ' +
  'lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so ' +
  'af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue'

/** What stands in, best first. The last rows are for models that lack a language of Whisper's newest. */
const standIns: Record<string, string[]> = {
  ast: ['es', 'gl'],
  ceb: ['tl'],
  ckb: ['fa', 'ar'],
  ff: ['ha', 'yo'],
  ga: ['cy', 'br', 'en'],
  ig: ['yo'],
  kam: ['sw'],
  kea: ['pt'],
  ky: ['kk', 'uz'],
  lg: ['sw'],
  luo: ['sw'],
  nso: ['sn', 'sw'],
  ny: ['sn', 'sw'],
  om: ['so'],
  or: ['bn', 'hi'],
  umb: ['ln', 'pt'],
  wo: ['ha', 'fr'],
  xh: ['sn', 'af'],
  zu: ['sn', 'af'],
  jv: ['jw'],
  yue: ['zh'],
  nn: ['no'],
}

/** Every code a caller may ask for, `jv` (the ISO code of Whisper's `jw`) beside them. */
const aliases = ['jv']
const nineteen = 'ast ceb ckb ff ga ig kam kea ky lg luo nso ny om or umb wo xh zu'

export const languages: readonly string[] = [...whisper.split(' '), ...nineteen.split(' ')]

const accepted = new Set([...languages, ...aliases])

export function isLanguage(code: string): boolean {
  return accepted.has(code)
}

/** The language that a model which knows `known` runs with when `code` is asked for; null when nothing is near. */
export function spokenAs(code: string, known: ReadonlySet<string>): string | null {
  return [code, ...(standIns[code] ?? [])].find(each => known.has(each)) ?? null
}

/** Languages written without spaces between words: their words are split by character. */
export function writtenWithoutSpaces(code: string): boolean {
  return ['zh', 'ja', 'th', 'lo', 'my', 'yue'].includes(code)
}
