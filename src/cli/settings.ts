// Settings for a command: the environment, and for `serve` a flag for each.

import type { ParseArgsOptionsConfig } from 'node:util'
import { type Config, flagOf, readConfig, settings } from '../config.ts'
import type { Values } from './command.ts'

const rows = Object.values(settings)

export const settingFlags: ParseArgsOptionsConfig = Object.fromEntries(
  rows.map(({ variable }) => [flagOf(variable), { type: 'string' as const }]),
)

export const settingHelp: Record<string, string> = Object.fromEntries(
  rows.map(({ variable, default: fallback, help }) => [
    flagOf(variable),
    `${help} (${variable}${fallback === '' ? '' : `, ${fallback}`})`,
  ]),
)

/** A flag wins over its variable. */
export function configOf(values: Values = {}): Config {
  const given = Object.fromEntries(
    rows.flatMap(({ variable }) => {
      const value = values[flagOf(variable)]
      return typeof value === 'string' ? [[variable, value]] : []
    }),
  )
  return readConfig({ ...process.env, ...given })
}
