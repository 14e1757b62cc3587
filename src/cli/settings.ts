// Reads the settings of a command from its flags, the environment, and the settings file of the installed service.
// Finds the folder for the command's files: the service's data folder, or the user's cache folder if no data folder is
// found.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDir, setNativeHome } from '../base/carried.ts'
import { requireSystemCalls } from '../base/system-call.ts'
import { settings } from '../config/settings.ts'
import { type Config, flagOf, readConfig, whyInvalid } from '../config.ts'
import { hasDatabase, isClosed, requireAccess } from '../db/data-dir.ts'
import { refuseEmpty } from './arguments.ts'
import { jsonOption } from './command.ts'
import { UsageError } from './failure.ts'
import { type Environment, installedSettings, unreadable } from './installed.ts'

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

/** The option `--data-dir`, which every command with a data folder has. */
export const dataOption = { 'data-dir': { type: 'string' } } as const

/** The options of a command with a data folder and JSON output. */
export const recordOptions = { ...jsonOption, ...dataOption } as const

/**
 * The values of a command's options, by option name. This file uses only the options that replace an environment
 * variable, such as `--data-dir` for STENO_DATA_DIR.
 */
export type Flags = Record<string, unknown>

/** Reads the settings of the server. A flag overrides the environment variable of the same setting. */
export function serverConfig(flags: Flags = {}): Config {
  return readConfig({ ...process.env, ...variablesOf(flags) })
}

/** Reads the settings of the service on this machine. Does not check that the data folder exists. */
export function serviceConfig(flags: Flags = {}): Config {
  return readConfig(serviceEnvironment(flags))
}

/**
 * Reads the settings for a command that uses the database of the service. Throws if there is no database, because the
 * command would create an empty one. Also throws if this process may not use the database.
 */
export function dataConfig(flags: Flags = {}): Config {
  const config = serviceConfig(flags)
  requireAccess(config.dataDir)
  if (hasDatabase(config.dataDir)) return config
  const place = existsSync(config.dataDir) ? 'has no steno.db' : 'is not there'
  const closed = unreadable()
  throw new Error(
    `the data folder ${config.dataDir} ${place}: --data-dir or STENO_DATA_DIR names another, steno serve makes one${closed}${closed && ': run the command as root for the installed service'}`,
  )
}

/**
 * Reads the settings of a command that needs no database. Throws if the program cannot call functions of the C library,
 * because each of these commands needs them later.
 */
export function localConfig(flags: Flags = {}): Config {
  requireSystemCalls()
  const config = serviceConfig(flags)
  // Model downloads read these variables from the environment. The settings file of an installed service may set them.
  const { HF_ENDPOINT, HF_TOKEN } = serviceEnvironment(flags)
  Object.assign(process.env, HF_ENDPOINT && { HF_ENDPOINT }, HF_TOKEN && { HF_TOKEN })
  const dataDir = openDataDir(flags)
  // Embedded files are unpacked into the data folder. If no data folder is found, embedded files and downloaded models
  // go into the user's cache folder.
  setNativeHome(join(dataDir ?? cacheDir(), 'native'))
  return { ...config, modelsDir: config.modelsDir ?? (dataDir === null ? join(cacheDir(), 'models') : null) }
}

/**
 * Returns the data folder that a setting names. If no setting names one, returns the default folder in the working
 * folder, or null if this folder certainly has no database. A default folder that this user may not enter may have a
 * database, so it is returned.
 */
export function findDataDir(flags: Flags): string | null {
  const environment = serviceEnvironment(flags)
  const { dataDir } = readConfig(environment)
  return environment.STENO_DATA_DIR || mayHaveDatabase(dataDir) ? dataDir : null
}

/** Returns the result of `findDataDir`, but null for a default folder that this user may not enter. */
function openDataDir(flags: Flags): string | null {
  const dataDir = findDataDir(flags)
  const isNamed = Boolean(serviceEnvironment(flags).STENO_DATA_DIR)
  return dataDir !== null && !isNamed && isClosed(dataDir) ? null : dataDir
}

function mayHaveDatabase(dataDir: string): boolean {
  return isClosed(dataDir) || hasDatabase(dataDir)
}

/**
 * Returns the environment variables of this process, overridden by the flags. If no data folder is named, and the
 * default folder certainly has no database, also returns the settings of the installed service. A default folder that
 * this user may not enter may have a database, so these settings are then not added.
 */
function serviceEnvironment(flags: Flags): Environment {
  const own = { ...process.env, ...variablesOf(flags) }
  if (own.STENO_DATA_DIR || mayHaveDatabase(settings.dataDir.parse(settings.dataDir.default))) return own
  return { ...installedSettings(), ...own }
}

/**
 * Returns the values of the given flags under the names of the environment variables that these flags override. Throws
 * one UsageError that names all flags with invalid values. An empty value means the default value. The data folder is
 * an exception: an empty value is an error there. Such a value may come from an unset shell variable, and the command
 * would then use the default folder ./steno-data by mistake.
 */
function variablesOf(flags: Flags): Environment {
  refuseEmpty(flags, 'data-dir')
  const given = rows.flatMap(setting => {
    const value = flags[flagOf(setting.variable)]
    return typeof value === 'string' ? [{ setting, value }] : []
  })
  const problems = given
    .filter(({ value }) => value !== '')
    .flatMap(({ setting, value }) => whyInvalid(`--${flagOf(setting.variable)}`, setting, value) ?? [])
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return Object.fromEntries(given.map(({ setting, value }) => [setting.variable, value]))
}
