// Downloads a model from the hub (Hugging Face's server of model files) into a draft folder, and resumes an interrupted
// download. When all files in the draft folder have the hub's hashes, the draft folder becomes the model's folder.

import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { inheritOwner } from '../../base/inherit-owner.ts'
import { linkOrCopy, replaceFolder } from '../../base/whole-file.ts'
import { findRevision, type Hub, type HubFile, listFiles, openFile } from '../../net/hub.ts'
import { SourceError } from '../../net/source.ts'
import { fetchFile, partOf, type RemoteFile } from './fetch-file.ts'
import { changedFiles, installedLock, isWhole, lockName, type ModelLock, matches } from './lock.ts'
import { waitForLock } from './wait-for-lock.ts'

export type ModelDownload = {
  id: string
  repository: string
  revision: string
  /** Returns true if the file at `path` belongs to the download. `all` has all paths in the repository. */
  wants: (path: string, all: readonly string[]) => boolean
  folder: string
  /** Checks the downloaded files in the folder `draft`. Throws an error if they are not a usable model. */
  check: (draft: string) => void
  hub: Hub
  signal: AbortSignal
  /** Waits before the next attempt to download a file (see fetch-file.ts). Only tests set it. */
  pause?: RemoteFile['pause']
  onProgress: (bytes: number, total: number) => void
  /**
   * Called with the paths of the files that differ from the installed files. They differ because files changed on the
   * hub, or because the device now needs other files.
   */
  onChange?: (paths: readonly string[]) => void
}

/** Returns the path of the lock file of a model's folder. Only the process that holds this lock changes the folder. */
export function lockPath(folder: string): string {
  return `${folder}.lock`
}

/**
 * Downloads a model. If another process is downloading it, waits until that download has ended. If all installed files
 * then match the hub, downloads nothing.
 */
export async function downloadModel(download: ModelDownload): Promise<ModelLock> {
  mkdirSync(dirname(download.folder), { recursive: true })
  const release = await waitForLock(lockPath(download.folder), download.signal)
  try {
    return await fetchModel(download)
  } finally {
    release()
    // The owner of the models folder is changed only after the lock is released. `inheritOwner` opens and closes every
    // file in this folder, also the lock file. When a process closes any descriptor of a file, it loses all its locks
    // on this file.
    inheritOwner(dirname(download.folder))
  }
}

async function fetchModel(download: ModelDownload): Promise<ModelLock> {
  const { id, repository, folder, hub, signal, pause, onProgress } = download
  const revision = await findRevision(hub, repository, download.revision, signal)
  const listed = await listFiles(hub, repository, revision, signal)
  const all = listed.map(file => file.path)
  const files = listed.filter(file => download.wants(file.path, all))
  for (const { path } of files) if (!isPlain(path)) throw new SourceError(`the hub names a file ${path}`)
  const installed = await installedLock(folder)
  if (installed) {
    const changed = changedFiles(installed.files, files)
    if (changed.length > 0) download.onChange?.(changed)
    else if (await isWhole(folder, files)) return installed
  }
  const total = files.reduce((sum, file) => sum + file.size, 0)
  // The name of the draft folder contains the commit of the model's repository, so an attempt resumes only a download
  // of the same commit.
  const draft = `${folder}.${revision.slice(0, 12)}.part`
  removeOtherDrafts(folder, draft)
  mkdirSync(draft, { recursive: true })
  let done = 0
  for (const file of files) {
    const before = done
    const remote: RemoteFile = {
      name: file.path,
      size: file.size,
      open: from => openFile(hub, { repository, revision, path: file.path, from }, signal),
      isGood: path => matches(path, file),
      signal,
      pause,
    }
    const path = join(draft, file.path)
    await reuse(join(folder, file.path), path, file)
    await fetchFile(path, remote, bytes => onProgress(before + bytes, total))
    done += file.size
  }
  removeOthers(draft, files)
  const lock = { id, repository, revision, files }
  await Bun.write(join(draft, lockName), `${JSON.stringify(lock, null, 2)}\n`)
  download.check(draft)
  replaceFolder(draft, folder)
  return lock
}

/**
 * Removes the draft folders (incomplete downloads) of other commits of the model's repository. A download resumes only
 * a draft folder of its own commit.
 */
function removeOtherDrafts(folder: string, draft: string): void {
  const [dir, id] = [dirname(folder), basename(folder)]
  const drafts = readdirSync(dir).filter(
    name => name.startsWith(id) && /^\.[0-9a-f]{12}\.part$/.test(name.slice(id.length)),
  )
  for (const name of drafts) if (name !== basename(draft)) rmSync(join(dir, name), { recursive: true })
}

/**
 * Removes the files of a draft folder that are not in `files`. An interrupted download for another device leaves such
 * files.
 */
function removeOthers(draft: string, files: readonly HubFile[]): void {
  const kept = new Set(files.map(({ path }) => join(draft, path)))
  for (const entry of readdirSync(draft, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && !kept.has(path)) rmSync(path)
  }
}

/**
 * Avoids the download of `path` if the installed file `from` already has the hub's size and hash. Puts this file in the
 * place of the incomplete download, so that `fetchFile` only checks its hash. Does nothing if a download of `path` has
 * begun.
 */
async function reuse(from: string, path: string, file: HubFile): Promise<void> {
  const part = partOf(path)
  if (existsSync(path) || existsSync(part) || !(await matches(from, file))) return
  mkdirSync(dirname(path), { recursive: true })
  linkOrCopy(from, part)
}

/**
 * Returns true if `path` is a relative path that cannot leave its folder. Returns false for an unusual path, such as
 * `.git/a`.
 */
function isPlain(path: string): boolean {
  return path.split('/').every(part => /^[\w][\w .+-]*$/.test(part))
}
