// Reads settings from the file .env in the working folder. Bun itself would also read .env.local and .env.development,
// which often belong to other projects.

import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

/**
 * Adds the variables of the file .env in the working folder to the environment. Existing variables keep their values.
 */
export function readEnvironmentFile(): void {
  for (const [name, value = ''] of Object.entries(parseEnv(textOf('.env'))))
    process.env[name] ??= expand(value)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The file does not exist, or this user may not read it.
    return ''
  }
}

/** Replaces references to variables: `$NAME`, `${NAME}` and `${NAME:-VALUE IF UNSET}`. `\$` is a dollar sign. */
function expand(value: string): string {
  return value.replaceAll(
    /\\\$|\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))/g,
    (reference, inBraces, ifUnset = '', bare) =>
      reference === '\\$' ? '$' : (process.env[inBraces ?? bare] ?? ifUnset),
  )
}
