// Gives files that root has written into another user's folder to that user. Otherwise a service of that user could not
// read what a command of root has unpacked, downloaded or restored.

import { closeSync, constants, fchownSync, fstatSync, openSync, readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/**
 * Changes the owner of those files and folders at `path` and below it that belong to root. The new owner is the owner
 * of `path` or, if that is root, the owner of the folder that contains `path`. Does nothing if both belong to root, or
 * if this process is not root.
 */
export function inheritOwner(path: string): void {
  if (process.getuid?.() !== 0) return
  const owner = [path, dirname(path)].map(place => statSync(place)).find(({ uid }) => uid !== 0)
  if (owner !== undefined) give(path, owner)
}

/**
 * Gives root's files and folders at `path` and below it to `owner`, but nothing outside `path`. `owner` may put links
 * into the folder while this function runs. Symbolic links are therefore not followed, and a file with several hard
 * links keeps its owner.
 */
function give(path: string, owner: { uid: number; gid: number }): void {
  const file = openUnlinked(path)
  if (file === null) return
  try {
    const found = fstatSync(file)
    const isFolder = found.isDirectory()
    if (isFolder)
      for (const name of readdirSync(`/proc/self/fd/${file}`)) give(`/proc/self/fd/${file}/${name}`, owner)
    if (found.uid === 0 && (isFolder || (found.isFile() && found.nlink === 1))) change(file, owner)
  } finally {
    closeSync(file)
  }
}

/** Changes the owner of an open file. Does nothing if root may not do this, as in some containers. */
function change(file: number, { uid, gid }: { uid: number; gid: number }): void {
  try {
    fchownSync(file, uid, gid)
  } catch {
    // The error is ignored. The file still belongs to root, so a command of root can use it, but the service of the
    // other user may not be able to read it.
  }
}

/** Opens a file or folder for reading. Returns null for a symbolic link, or if the path cannot be opened. */
function openUnlinked(path: string): number | null {
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch {
    return null
  }
}
