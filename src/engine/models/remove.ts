// Removes an installed model.

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { lockFile } from '../../base/file-lock.ts'
import { isKnownModel } from './catalogue.ts'
import { compactFolderOf } from './layout.ts'
import { lockPath } from './pull.ts'

/**
 * Removes the model `id` from the folder `dir`, with its compact copy (8-bit weights) and its incomplete downloads.
 * Returns false if there was nothing to remove. Throws an error if the model is being downloaded.
 */
export function removeModel(dir: string, id: string): boolean {
  if (!isKnownModel(id) || !existsSync(dir)) return false
  const release = lockFile(lockPath(join(dir, id)))
  if (!release) throw new Error(`${id} is being fetched`)
  try {
    const copy = basename(compactFolderOf(join(dir, id), dir))
    const names = readdirSync(dir).filter(
      name => name === id || name === copy || (name.startsWith(`${id}.`) && name.endsWith('.part')),
    )
    for (const name of names) rmSync(join(dir, name), { recursive: true })
    rmSync(lockPath(join(dir, id)))
    return names.length > 0
  } finally {
    release()
  }
}
