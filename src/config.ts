// The configuration: the values of all settings, read from environment variables. Other files read variables that are
// not settings, such as STENO_CACHE_DIR in base/carried.ts.

import { nearest } from './base/edit-distance.ts'
import { ConfigError } from './config/config-error.ts'
import { settings } from './config/settings.ts'
import { InvalidValue } from './setting-values.ts'

export type Config = { [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]['parse']> }

/**
 * Matches the variables that start with STENO_ but are not settings. They are for folders, the settings file, tests and
 * benchmarks.
 */
const otherVariables = /^STENO_(CACHE_DIR|ENV_FILE|NATIVE_DIR|(TEST|BENCH)_\w+)$/

/**
 * Reads the settings from environment variables. Throws one ConfigError for all invalid values and unknown variables.
 */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const problems = unknownVariables(environment)
  const config = Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => {
      const given = environment[setting.variable] || setting.default
      const problem = whyInvalid(setting.variable, setting, given)
      if (problem !== null) problems.push(problem)
      return [name, problem === null ? setting.parse(given) : undefined]
    }),
  ) as Config
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  if (config.durationMsMin > config.durationMsMax) {
    throw new ConfigError('STENO_MIN_DURATION is longer than STENO_MAX_DURATION')
  }
  if (config.workers === 0 && config.nats === null)
    throw new ConfigError('STENO_WORKERS=0: without STENO_NATS at least one engine process is needed')
  return config
}

/**
 * Returns an error message if a setting does not accept a value, otherwise null. `name` is the setting's variable or
 * flag, as the user gave it.
 */
export function whyInvalid(
  name: string,
  { variable, parse }: { variable: string; parse: (text: string) => unknown },
  value: string,
): string | null {
  try {
    parse(value)
    return null
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    return `${name}${mayHavePassword.includes(variable) ? '' : `=${value}`}: ${error.message}`
  }
}

/** The variables whose values may contain a password. Error messages do not show these values. */
const mayHavePassword = ['STENO_BASE_URL', 'STENO_SERVER', 'STENO_SMTP_URL', 'STENO_NATS']

/** Returns one message for each unknown variable that starts with STENO_, which is probably misspelt. */
function unknownVariables(environment: Record<string, string | undefined>): string[] {
  const known = Object.values(settings).map(({ variable }) => variable)
  return Object.entries(environment)
    .filter(([name, value]) => value !== undefined && name.startsWith('STENO_') && !known.includes(name))
    .filter(([name]) => !otherVariables.test(name))
    .map(([name]) => `${name} is not a setting; the nearest one is ${nearest(name, known)}`)
}

/** Returns the URL of a server that listens on `host` and `port`. An IPv6 address is written in brackets. */
export function listeningUrl({ host, port }: { host: string; port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Converts the name of an environment variable to the name of its flag: `STENO_UPLOAD_TTL` becomes `upload-ttl`. */
export function flagOf(variable: string): string {
  return variable.replace('STENO_', '').toLowerCase().replaceAll('_', '-')
}
