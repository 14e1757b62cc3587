// Removes a file and throws no error, so that the caller can continue with other files.

import { rmSync } from 'node:fs'
import { errorFields, log } from './log.ts'

/** The files that could not be removed. The error of each of them is logged once. */
const stuck = new Set<string>()

/**
 * Removes a file, if it exists. Returns false if the file cannot be removed, for example because the disk is damaged.
 * The caller can try again later.
 */
export function tryRemove(path: string): boolean {
  try {
    rmSync(path, { force: true })
    stuck.delete(path)
    return true
  } catch (error) {
    if (!stuck.has(path)) log.error('file not removed', { file: path, ...errorFields(error) })
    stuck.add(path)
    return false
  }
}
