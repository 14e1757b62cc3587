// Files and folders that appear under their name whole or not at all. Each is written as a draft beside its place.

import { closeSync, fsyncSync, linkSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { limits } from '../limits.ts'

/** A path for one draft of this file or folder. No process id: two containers on one folder may have the same. */
export function draftPath(path: string): string {
  return `${path}.${crypto.randomUUID()}.part`
}

export function isDraft(name: string): boolean {
  return /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.part$/.test(name)
}

/** Removes the drafts in a folder that a killed process left. A young one may still be written. */
export function removeOldDrafts(folder: string): void {
  for (const name of readdirSync(folder).filter(isDraft)) {
    const path = join(folder, name)
    const found = statSync(path, { throwIfNoEntry: false })
    if (found && Date.now() - found.mtimeMs >= limits.draftKeptMs)
      rmSync(path, { recursive: true, force: true })
  }
}

/**
 * Declared with `using`, filled at `path`, then put in place by one of its two methods.
 * A draft that is not in place when its block ends is removed.
 */
export class Draft implements Disposable {
  readonly path: string
  readonly #target: string

  constructor(target: string) {
    this.#target = target
    this.path = draftPath(target)
  }

  /** Puts the draft in place unless a file, or a folder with anything in it, is there: false then. */
  place(): boolean {
    const isFolder = syncAll(this.path)
    try {
      // A link to a file and a rename of a folder refuse a place that is taken.
      if (isFolder) renameSync(this.path, this.#target)
      else linkSync(this.path, this.#target)
    } catch (error) {
      if (isTaken(error)) return false
      throw error
    }
    syncOne(dirname(this.#target))
    return true
  }

  /** Puts the draft in place, also where a file or a folder is already. */
  replace(): void {
    if (syncAll(this.path)) replaceFolder(this.path, this.#target)
    else renameSync(this.path, this.#target)
    syncOne(dirname(this.#target))
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** Renames a folder to `target`. A folder that is there is renamed first and then removed, so never half of it is left. */
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
      // Taken again: another process was faster.
      if (!isTaken(error)) throw error
    }
  }
}

/** Everything is on the disk before the rename is: otherwise a power cut leaves the name over empty files. */
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

function isTaken(error: unknown): boolean {
  return ['EEXIST', 'ENOTEMPTY'].includes(codeOf(error) ?? '')
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
