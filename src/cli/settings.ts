// Reads the settings of a command from the environment variables. The command `serve` also has a flag for
// each setting.

import { type Config, flagOf, readConfig, settings } from '../config.ts'

const rows = Object.values(settings)

export const settingFlags: Record<string, { type: 'string' }> = Object.fromEntries(
  rows.map(({ variable }) => [flagOf(variable), { type: 'string' as const }]),
)

export const settingHelp: Record<string, string> = Object.fromEntries(
  rows.map(({ variable, default: fallback, help }) => [
    flagOf(variable),
    `${help} (${variable}${fallback === '' ? '' : `, ${fallback}`})`,
  ]),
)

/** Reads the settings. A flag overrides the environment variable of the same setting. */
export function configOf(flags: Record<string, string | undefined> = {}): Config {
  const given = Object.fromEntries(
    rows.flatMap(({ variable }) => {
      const value = flags[flagOf(variable)]
      return value === undefined ? [] : [[variable, value]]
    }),
  )
  return readConfig({ ...process.env, ...given })
}
