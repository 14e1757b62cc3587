// Creates files and folders atomically. The content is first written to a draft, which is a file or folder beside the
// target. When the draft is complete, it is renamed or linked to the path of the target.

import {
  closeSync,
  copyFileSync,
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

/**
 * A draft: a file or folder that is still being written. The code that creates a draft declares it with `using`, writes
 * to `path`, and calls `place` or `replace`, which move the draft to its target. A draft that was not moved is removed
 * at the end of the block.
 */
export class Draft implements Disposable {
  readonly path: string
  readonly #target: string

  constructor(target: string) {
    this.#target = target
    this.path = draftPath(target)
  }

  /**
   * Moves the draft, which is the complete new file or folder, to the target path. Never replaces existing content:
   * returns false and moves nothing if the draft is a file and the target path exists, or if the draft is a folder and
   * the target is a folder that is not empty.
   */
  place(): boolean {
    const isFolder = syncAll(this.path)
    try {
      // Neither call replaces existing content. `placeFile` fails if the target exists. `renameSync` fails if the
      // target is a folder that is not empty.
      if (isFolder) renameSync(this.path, this.#target)
      else placeFile(this.path, this.#target)
    } catch (error) {
      if (isTaken(error)) return false
      throw error
    }
    syncOne(dirname(this.#target))
    return true
  }

  /**
   * Moves the draft, which is a complete file or folder under a temporary name, to the path of its target. Replaces a
   * file or folder that already exists at this path.
   */
  replace(): void {
    if (syncAll(this.path)) replaceFolder(this.path, this.#target)
    else renameSync(this.path, this.#target)
    syncOne(dirname(this.#target))
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/**
 * Puts the file `draft` at the path `target`. Fails if a file exists at `target`. A hard link does this in one step. If
 * the file system has no hard links (such as that of a USB stick or of a Windows share), creates an empty file at
 * `target`, and then renames the draft to `target`. So another process may see an empty file, but never a part of the
 * content.
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

/** Makes `to` a second name of the file `from`, or a copy of it if the file system has no hard links. */
export function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (!isWithoutLinks(error)) throw error
    copyFileSync(from, to)
  }
}

/**
 * Renames the folder at `path` to `target`. If a folder exists at `target`, this old folder is first renamed, and is
 * removed at the end. So no process ever sees an incomplete folder at `target`.
 */
export function replaceFolder(path: string, target: string): void {
  for (;;) {
    using old = new Draft(target)
    try {
      renameSync(target, old.path)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
    }
    try {
      renameSync(path, target)
      return
    } catch (error) {
      // After the old folder was renamed, another process has created a folder at `target`, so the loop tries again.
      if (!isTaken(error)) throw error
    }
  }
}

/**
 * Flushes the content of the draft at `path` to the disk, before the draft is renamed. Otherwise a power cut could
 * leave empty files at the target. Returns true if `path` is a folder.
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
