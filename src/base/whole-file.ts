// Creates files and folders atomically. The content is first written to a draft beside the target. The complete draft
// is then renamed or linked to the target.

import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { draftPath } from './draft-names.ts'
import { removeFile } from './remove-file.ts'

/**
 * A draft: a file or folder that is still being written. Callers declare it with `using`, write to `path`, and move it
 * with `place` or `replace`. Otherwise it is removed at the end of the block.
 */
export class Draft implements Disposable {
  readonly path: string
  readonly #target: string
  #isPlaced = false

  constructor(target: string) {
    this.#target = target
    this.path = draftPath(target)
  }

  /**
   * Moves the complete draft to the target path. Returns false, and moves nothing, if the target exists. But if the
   * draft is a folder, it replaces an empty folder, and throws if the target is a file.
   */
  place(): boolean {
    const isFolder = syncAll(this.path)
    try {
      // `placeFile` throws if the target exists. `renameSync` throws if the target is a folder that is not empty.
      // `isTaken` recognises both errors.
      if (isFolder) renameSync(this.path, this.#target)
      else placeFile(this.path, this.#target)
      this.#isPlaced = true
    } catch (error) {
      if (isTaken(error)) return false
      throw error
    }
    syncOne(dirname(this.#target))
    return true
  }

  /** Moves the complete draft to the target path. Replaces an existing file or folder there. */
  replace(): void {
    if (syncAll(this.path)) replaceFolder(this.path, this.#target)
    else renameSync(this.path, this.#target)
    syncOne(dirname(this.#target))
  }

  [Symbol.dispose](): void {
    // After `place`, the draft may still exist, as a second path (hard link) of the target. SQLite may have the target
    // open. `removeFile` would open and close the same file, and thus release the locks of SQLite.
    if (this.#isPlaced) remove(this.path)
    else removeFile(this.path, { recursive: true })
  }
}

/**
 * Gives the file `draft` the path `target`. Fails if `target` exists. A hard link makes this atomic, and the path
 * `draft` still exists afterwards. Without hard links, as on a USB stick, another process may briefly see an empty
 * file, but never a part of the content.
 */
export function placeFile(draft: string, target: string): void {
  try {
    linkSync(draft, target)
  } catch (error) {
    if (!isWithoutLinks(error)) throw error
    closeSync(openSync(target, 'wx', 0o600))
    try {
      renameSync(draft, target)
    } catch (error) {
      rmSync(target)
      throw error
    }
  }
}

/** Makes a hard link `to` to the file `from`. Makes a copy if the file system has no hard links. */
export function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (!isWithoutLinks(error)) throw error
    copyFileSync(from, to)
  }
}

/**
 * Renames the folder at `path` to `target`. An existing folder at `target` is renamed first, and removed at the end. If
 * `path` cannot be renamed, the existing folder is put back. No process ever sees an incomplete folder at `target`.
 */
export function replaceFolder(path: string, target: string): void {
  for (;;) {
    const old = draftPath(target)
    try {
      renameSync(target, old)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
    }
    try {
      renameSync(path, target)
    } catch (error) {
      if (isTaken(error)) {
        // Another process has created a folder at `target` meanwhile. The loop tries again.
        remove(old)
        continue
      }
      // If this renaming fails too, its error message names `old`, so that the user finds the existing folder.
      if (existsSync(old)) renameSync(old, target)
      throw error
    }
    remove(old)
    return
  }
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true })
}

/**
 * Flushes the draft at `path` to the disk before it is renamed. Otherwise a power cut could leave empty files. Returns
 * true if `path` is a folder.
 */
function syncAll(path: string): boolean {
  const isFolder = statSync(path).isDirectory()
  if (isFolder) for (const name of readdirSync(path)) syncAll(join(path, name))
  syncOne(path)
  return isFolder
}

function syncOne(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function isWithoutLinks(error: unknown): boolean {
  return /^(EPERM|ENOTSUP|EMLINK|ENOSYS)$/.test(codeOf(error) ?? '')
}

function isTaken(error: unknown): boolean {
  return ['EEXIST', 'ENOTEMPTY'].includes(codeOf(error) ?? '')
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
