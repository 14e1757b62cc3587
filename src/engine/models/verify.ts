// Verifies the files of an installed model. Also verifies its compact copy: the same weights in 8 bits, which steno
// makes for a CPU.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { faultOf } from './fault.ts'
import { isInstalledVoice } from './installed-voices.ts'
import { compactFolderOf, isCompact } from './layout.ts'
import { installedLock, lockName, type ModelLock, matches } from './lock.ts'
import { isVoiceModel } from './roles.ts'

/**
 * Checks the files of an installed model. Also checks the files of its compact copy (a copy with 8-bit weights, which
 * steno makes), if there is one. Returns the paths of the files that are missing, or whose size or hash differs from
 * the one in the file `steno-lock.json`. If that file is damaged, returns its path only. Returns null if the model's
 * folder has no `steno-lock.json`.
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
 * Returns an error message about a model that cannot be loaded, because a file of it is missing or damaged. Otherwise
 * returns null. Compares no hashes, so the model may have been installed by hand.
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
