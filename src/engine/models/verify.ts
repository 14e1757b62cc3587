// Verifies the files of an installed model and of its compact copy (a copy with 8-bit weights).

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { faultOf } from './fault.ts'
import { isInstalledVoice } from './installed-voices.ts'
import { compactFolderOf, isCompact } from './layout.ts'
import { installedLock, lockName, type ModelLock, matches } from './lock.ts'
import { isVoiceModel } from './roles.ts'

/**
 * Checks the files of an installed model and of its compact copy (8-bit weights). Returns the paths of files that are
 * missing, or whose size or hash differs from `steno-lock.json`. If that file is damaged, returns only its path.
 * Returns null if there is no `steno-lock.json`.
 */
export async function verifyModel(dir: string, id: string): Promise<string[] | null> {
  const folder = join(dir, id)
  const lock = await installedLock(folder)
  if (lock === null) return existsSync(join(folder, lockName)) ? [lockName] : null
  const copy = compactFolderOf(folder, dir)
  const copied = isCompact(copy) ? await installedLock(copy) : null
  return [...(await wrongFiles(folder, lock)), ...(copied ? await wrongFiles(copy, copied) : [])]
}

/**
 * Checks a model that has no `steno-lock.json`, for example because it was installed by hand. There are no hashes to
 * compare. Returns an error message if a file is missing, or if a file of a speech model is empty or invalid. Returns
 * null if no fault is found.
 */
export function faultOfInstalled(dir: string, id: string): string | null {
  if (!isVoiceModel(id)) return faultOf(join(dir, id))
  return isInstalledVoice(id, dir) ? null : 'a file of the model is missing'
}

async function wrongFiles(folder: string, { files }: ModelLock): Promise<string[]> {
  const checked = await Promise.all(
    files.map(async file => ((await matches(join(folder, file.path), file)) ? [] : [file.path])),
  )
  return checked.flat()
}
