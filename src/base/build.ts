// The version of the program.

import steno from '../../package.json'

/**
 * The commit from which the binary was built. The build defines this constant; a checkout does not have it.
 */
declare const STENO_COMMIT: string | undefined

export const build = {
  version: steno.version,
  commit: typeof STENO_COMMIT === 'string' ? STENO_COMMIT : 'checkout',
}
