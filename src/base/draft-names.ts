// The names of drafts, and the removal of old drafts. A draft is a file or folder that is still being written.

import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../limits.ts'

/**
 * Returns a new path for a draft of the file or folder at `path`. The path contains a random id. A process id would not
 * be unique, because two containers may share the folder.
 */
export function draftPath(path: string): string {
  return `${path}.${crypto.randomUUID()}.part`
}

export function isDraft(name: string): boolean {
  return /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.part$/.test(name)
}

/**
 * Removes the drafts that killed processes have left behind in a folder. A draft that was changed in the last
 * `draftKeptMs` milliseconds stays, because a process may still write to it. With `start`, removes only drafts whose
 * names begin with this text, because other programs use the folder too.
 */
export function removeOldDrafts(folder: string, start = ''): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(start) || !isDraft(name)) continue
    const path = join(folder, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found && Date.now() - found.mtimeMs >= limits.draftKeptMs)
      rmSync(path, { recursive: true, force: true })
  }
}
