// The 119 languages: the hundred of Whisper, and nineteen that run with the nearest language that a model knows.

const whisper =
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg ' +
  'lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so ' +
  'af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue'

/** Languages that stand in for another, best first. The last rows are for models that lack Whisper's newest ones. */
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

/** `jv` is the ISO code of Whisper's `jw`. */
const aliases = ['jv']
const nineteen = 'ast ceb ckb ff ga ig kam kea ky lg luo nso ny om or umb wo xh zu'

export const languages: readonly string[] = [...whisper.split(' '), ...nineteen.split(' ')]

/** Every code that a caller may ask for. */
const accepted = new Set([...languages, ...aliases])

export function isLanguage(code: string): boolean {
  return accepted.has(code)
}

/** The language to run with for `code`, in a model that knows `known`; null when it knows none that is near. */
export function spokenAs(code: string, known: ReadonlySet<string>): string | null {
  return [code, ...(standIns[code] ?? [])].find(candidate => known.has(candidate)) ?? null
}

/** Whether the language has no spaces between words; its words are split by character. */
export function writtenWithoutSpaces(code: string): boolean {
  return ['zh', 'ja', 'th', 'lo', 'my', 'yue'].includes(code)
}
