// The version and the commit of the program.

import steno from '../../package.json'

/** The commit from which the program was built, defined by `scripts/build.ts`. Undefined in a checkout. */
declare const STENO_COMMIT: string | undefined

export const build = {
  version: steno.version,
  commit: typeof STENO_COMMIT === 'string' ? STENO_COMMIT : 'checkout',
}
