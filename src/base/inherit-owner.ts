// Changes the owner of files that root has written into the folder of another user. The new owner is this user. So a
// service of this user can read what a command of root has unpacked, downloaded or restored.

import { closeSync, constants, fchownSync, fstatSync, openSync, readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/**
 * Changes the owner of all files and folders of root, at `path` and below it. The new owner is the owner of `path` or,
 * if this is root, the owner of the folder that contains `path`. Does nothing if root owns both, or if this process
 * does not run as root.
 */
export function inheritOwner(path: string): void {
  if (process.getuid?.() !== 0) return
  const owner = [path, dirname(path)].map(place => statSync(place)).find(({ uid }) => uid !== 0)
  if (owner !== undefined) give(path, owner)
}

/**
 * Gives all files and folders of root, at `path` and below it, to `owner`. This user may change the folder at the same
 * time, so no symbolic link is followed: each folder is read through its open descriptor. A file with several hard
 * links keeps its owner, because another of its names may be outside of the folder.
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

/** Changes the owner of an open file. Does nothing if root may not do this, for example in a container. */
function change(file: number, { uid, gid }: { uid: number; gid: number }): void {
  try {
    fchownSync(file, uid, gid)
  } catch {
    // The command of root can still use the file, and so can a service that runs as root.
  }
}

/**
 * Opens a file or folder for reading. Returns null for a symbolic link, and for a path that cannot be opened, such as a
 * socket.
 */
function openUnlinked(path: string): number | null {
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch {
    return null
  }
}
