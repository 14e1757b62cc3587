// Verifies the files of an installed model. Also verifies its compact copy: the same weights in 8 bits, which steno
// makes after the download.

import { join } from 'node:path'
import { compactFolderOf, isCompact } from './layout.ts'
import { installedLock, type ModelLock, matches } from './lock.ts'

/**
 * Checks the files of a model, and the files of its compact copy, which steno made after the download. Returns the
 * paths of the files that have changed since. Returns null if the model's folder has no lock file.
 */
export async function verifyModel(dir: string, id: string): Promise<string[] | null> {
  const folder = join(dir, id)
  const lock = await installedLock(folder)
  if (lock === null) return null
  const copy = compactFolderOf(folder, dir)
  const copied = isCompact(copy) ? await installedLock(copy) : null
  return [...(await wrongFiles(folder, lock)), ...(copied ? await wrongFiles(copy, copied) : [])]
}

async function wrongFiles(folder: string, { files }: ModelLock): Promise<string[]> {
  const checked = await Promise.all(
    files.map(async file => ((await matches(join(folder, file.path), file)) ? [] : [file.path])),
  )
  return checked.flat()
}
