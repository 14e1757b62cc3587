// Checks the value of STENO_MODEL: the name of a known speech model, `auto-fast`, or the path of a folder.

import { statSync } from 'node:fs'
import { nearest } from '../../base/edit-distance.ts'
import { reasonOf } from '../../base/reason.ts'
import { ConfigError } from '../../config/config-error.ts'
import { speechModelNames } from './roles.ts'

/** Throws a ConfigError if the setting STENO_MODEL is neither one of `speechModelNames` nor the path of a folder. */
export function requireModelName(model: string): void {
  const unknown = whyUnknown(model)
  if (unknown !== null) throw new ConfigError(`STENO_MODEL=${unknown}`)
}

/**
 * Returns null if `model` is one of `speechModelNames` or a folder. Otherwise returns an error message: with the most
 * similar name, or with the reason why the folder cannot be read.
 */
export function whyUnknown(model: string): string | null {
  const known = speechModelNames()
  if (known.includes(model)) return null
  try {
    if (statSync(model, { throwIfNoEntry: false })?.isDirectory()) return null
  } catch (error) {
    const isClosed = (error as NodeJS.ErrnoException).code === 'EACCES'
    const hint = isClosed ? '; this user may not enter it, and the unit of systemd hides /home and /root' : ''
    return `${model} cannot be read: ${reasonOf(error)}${hint}`
  }
  return `${model} is neither a known model nor a folder; the nearest known model is ${nearest(model, known)}`
}
