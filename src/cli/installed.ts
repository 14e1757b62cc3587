// The settings of the service that is installed on this machine.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathVariables } from '../config/settings.ts'
import { parseUnitSettings } from './unit-settings.ts'

export type Environment = Record<string, string | undefined>

/**
 * Returns the path of the installed service's settings file. STENO_ENV_FILE names the file of a second service on the
 * same machine.
 */
export function environmentFile(): string {
  return process.env.STENO_ENV_FILE || '/etc/steno.env'
}

export function installedSettings(): Environment {
  const found = settingsIn(environmentFile())
  return found.STENO_DATA_DIR ? { ...found, ...pathsIn(found, found.STENO_DATA_DIR) } : found
}

/**
 * Returns the settings that are paths, as absolute paths. A relative path starts at the data folder `dataDir`, which is
 * the working folder of the installed service, and not at the working folder of a command.
 */
export function pathsIn(settings: Environment, dataDir: string): Record<string, string> {
  const paths = pathVariables.flatMap((name): [string, string][] => {
    const value = settings[name] ?? ''
    const isPath = name === 'STENO_MODEL' ? value.includes('/') : value !== ''
    return isPath ? [[name, resolve(dataDir, value)]] : []
  })
  return Object.fromEntries(paths)
}

/** Returns the settings in the file at `path`. Returns none if the file is missing, or if this user may not read it. */
export function settingsIn(path: string): Environment {
  try {
    return parseUnitSettings(readFileSync(path, 'utf8'))
  } catch {
    return {}
  }
}

/**
 * Returns a hint for the error message if a service is installed whose settings this user may not read. Otherwise
 * returns an empty text.
 */
export function unreadable(): string {
  try {
    readFileSync(environmentFile())
    return ''
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'EACCES' ? `; only root may read ${environmentFile()}` : ''
  }
}
