// Reads the settings of a command from the environment, and finds the folder of its files. A command either works on
// the data folder of a service, or keeps its files in the cache folder of the user.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { cacheDir, setNativeHome } from '../base/carried.ts'
import { type Config, flagOf, readConfig, settings } from '../config.ts'
import { hasDatabase } from '../db/data-dir.ts'

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

/** The option of every command that works on a data folder. */
export const dataOption = { 'data-dir': { type: 'string' } } as const

/** The values of the options of a command, by the names of the options. Options that are not settings are ignored. */
export type Flags = Record<string, unknown>
type Environment = Record<string, string | undefined>

/** Reads the settings of the server. A flag overrides the environment variable of the same setting. */
export function serverConfig(flags: Flags = {}): Config {
  return readConfig({ ...process.env, ...variablesOf(flags) })
}

/** Reads the settings of the service on this machine. The data folder of the service may not exist yet. */
export function serviceConfig(flags: Flags = {}): Config {
  return readConfig(serviceEnvironment(flags))
}

/**
 * Reads the settings of a command that works on the data folder of a service. Throws if the folder has no
 * database, because the command would otherwise create a second, empty service.
 */
export function dataConfig(flags: Flags = {}): Config {
  const config = serviceConfig(flags)
  if (hasDatabase(config.dataDir)) return config
  const place = existsSync(config.dataDir) ? 'has no steno.db' : 'is not there'
  throw new Error(
    `the data folder ${config.dataDir} ${place}: --data-dir or STENO_DATA_DIR names another, steno serve makes one${unreadable()}`,
  )
}

/**
 * Reads the settings of a command that needs no data folder. The command unpacks and downloads files into the data
 * folder if a data folder exists. Otherwise it uses the cache folder of the user.
 */
export function localConfig(flags: Flags = {}): Config {
  const config = serviceConfig(flags)
  const home = findDataDir(flags) ?? cacheDir()
  setNativeHome(join(home, 'native'))
  return { ...config, modelsDir: config.modelsDir ?? join(home, 'models') }
}

/**
 * Returns the data folder that a setting names, or the data folder in the working folder. Returns null if neither
 * exists.
 */
export function findDataDir(flags: Flags): string | null {
  const environment = serviceEnvironment(flags)
  const { dataDir } = readConfig(environment)
  return environment.STENO_DATA_DIR || hasDatabase(dataDir) ? dataDir : null
}

/**
 * Returns the environment of the service on this machine. The settings of the installed service are added,
 * unless a flag, the environment or the working folder names another data folder.
 */
function serviceEnvironment(flags: Flags): Environment {
  const own = { ...process.env, ...variablesOf(flags) }
  if (own.STENO_DATA_DIR || hasDatabase(settings.dataDir.parse(settings.dataDir.default))) return own
  return { ...installedSettings(), ...own }
}

/**
 * Returns the path of the file with the settings of the installed service. STENO_ENV_FILE names the file of a second
 * service.
 */
export function environmentFile(): string {
  return process.env.STENO_ENV_FILE || '/etc/steno.env'
}

function installedSettings(): Environment {
  try {
    return parseEnv(readFileSync(environmentFile(), 'utf8'))
  } catch {
    // Either no service is installed, or only root may read its settings.
    return {}
  }
}

/**
 * Returns a hint if a service is installed and this user may not read its settings. Otherwise returns an empty text.
 */
function unreadable(): string {
  try {
    readFileSync(environmentFile())
    return ''
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'EACCES' ? `; only root may read ${environmentFile()}` : ''
  }
}

function variablesOf(flags: Flags): Environment {
  return Object.fromEntries(
    rows.flatMap(({ variable }) => {
      const value = flags[flagOf(variable)]
      return typeof value === 'string' ? [[variable, value]] : []
    }),
  )
}
