// The file `steno-lock.json` in a model's folder: the commit of the model, and its files with their hashes.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { HubFile } from '../../net/hub.ts'
import { sizeOf } from './fetch-file.ts'

/**
 * The content of `steno-lock.json`. `revision` is the downloaded commit of `repository` on Hugging Face. A compact copy
 * is a model folder that steno makes from another model, with the weights converted to 8 bits. In the lock of a compact
 * copy, `repository` is empty, and `revision` is a hash that identifies the files of the original model.
 */
export type ModelLock = { id: string; repository: string; revision: string; files: HubFile[] }
export const lockName = 'steno-lock.json'

/** Returns the content of `steno-lock.json` of an installed model. Returns null if this file is missing or damaged. */
export async function installedLock(folder: string): Promise<ModelLock | null> {
  const lock: unknown = await Bun.file(join(folder, lockName))
    .json()
    .catch(() => null)
  return isLock(lock) ? lock : null
}

/** Returns true if the content of `steno-lock.json` has a list of files. False if the file is damaged. */
export function isLock(content: unknown): content is ModelLock {
  const { files } = Object(content) as Partial<ModelLock>
  return (
    Array.isArray(files) &&
    files.every(
      file =>
        typeof file?.path === 'string' && Number.isSafeInteger(file.size) && file.hash instanceof Object,
    )
  )
}

/** Returns the paths of the files that were added, removed or changed between two lists of a model's files. */
export function changedFiles(before: readonly HubFile[], now: readonly HubFile[]): string[] {
  const keyOf = ({ path, size, hash }: HubFile) => `${hash.value} ${size} ${path}`
  const [old, current] = [before, now].map(files => new Set(files.map(keyOf)))
  const changed = [
    ...before.filter(file => !current?.has(keyOf(file))),
    ...now.filter(file => !old?.has(keyOf(file))),
  ]
  return [...new Set(changed.map(({ path }) => path))].toSorted()
}

export async function isWhole(folder: string, files: readonly HubFile[]): Promise<boolean> {
  for (const file of files) if (!(await matches(join(folder, file.path), file))) return false
  return true
}

/** Returns true if the file at `path` has the given size and hash. */
export async function matches(path: string, { size, hash: { kind, value } }: HubFile): Promise<boolean> {
  if (sizeOf(path) !== size || !existsSync(path)) return false
  const hash = createHash(kind === 'sha256' ? 'sha256' : 'sha1')
  if (kind === 'git') hash.update(`blob ${size}\0`)
  for await (const bytes of Bun.file(path).stream()) hash.update(bytes)
  return hash.digest('hex') === value
}
