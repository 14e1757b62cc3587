import { accessSync, constants, statSync } from 'node:fs'
import { causeOf } from './unwritable.ts'

/** Throws if `path` does not exist, if it is not a file (for example a folder), or if this user may not read it. */
export function requireFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw new Error(`there is no file ${path}`)
  if (!found.isFile()) throw new Error(`${path} is not a file`)
  try {
    accessSync(path, constants.R_OK)
  } catch (error) {
    throw new Error(`${path} cannot be read: ${causeOf(error)}`)
  }
}
