// Fetches a model from the hub: goes on where it stopped, checks every file against the hub's own hash, and puts
// the whole in its place at once, with a lock file that says what it is.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lockFile } from '../../base/file-lock.ts'
import { limits } from '../../limits.ts'
import { findRevision, type Hub, type HubFile, listFiles, openFile } from '../../net/hub.ts'
import { SourceError } from '../../net/source.ts'
import { fetchFile, sizeOf, type Wanted } from './fetch-file.ts'

export type Lock = { id: string; repository: string; revision: string; files: HubFile[] }
export const lockName = 'steno-lock.json'

export type Pull = {
  id: string
  repository: string
  revision: string
  /** Which of the hub's files are wanted. */
  wants: (path: string) => boolean
  folder: string
  hub: Hub
  signal: AbortSignal
  onProgress: (bytes: number, total: number) => void
}

/** Held by whoever changes the model's folder. */
export function lockPath(folder: string): string {
  return `${folder}.lock`
}

/** One at a time for a folder, whichever process it is: who comes second waits, and takes what the first one got. */
export async function pull(order: Pull): Promise<Lock> {
  mkdirSync(dirname(order.folder), { recursive: true })
  const path = lockPath(order.folder)
  let release = lockFile(path)
  const waits = release === null
  while (release === null) {
    order.signal.throwIfAborted()
    await Bun.sleep(limits.pullWaitMs)
    release = lockFile(path)
  }
  try {
    const lock = join(order.folder, lockName)
    return waits && existsSync(lock) ? await Bun.file(lock).json() : await fetchModel(order)
  } finally {
    release()
  }
}

async function fetchModel({
  id,
  repository,
  revision,
  wants,
  folder,
  hub,
  signal,
  onProgress,
}: Pull): Promise<Lock> {
  const commit = await findRevision(hub, repository, revision, signal)
  const files = (await listFiles(hub, repository, commit, signal)).filter(each => wants(each.path))
  for (const { path } of files) if (!isPlain(path)) throw new SourceError(`the hub names a file ${path}`)
  const total = files.reduce((sum, each) => sum + each.size, 0)
  // What an earlier try has left is of use only for the same commit.
  const place = `${folder}.${commit.slice(0, 12)}.part`
  let done = 0
  for (const file of files) {
    const before = done
    const wanted: Wanted = {
      name: file.path,
      size: file.size,
      open: from => openFile(hub, { repository, revision: commit, path: file.path, from }, signal),
      isGood: path => matches(path, file),
      signal,
    }
    await fetchFile(join(place, file.path), wanted, bytes => onProgress(before + bytes, total))
    done += file.size
  }
  const lock = { id, repository, revision: commit, files }
  await Bun.write(join(place, lockName), `${JSON.stringify(lock, null, 2)}\n`)
  rmSync(folder, { recursive: true, force: true })
  renameSync(place, folder)
  return lock
}

/** A path below the folder and nowhere else. */
function isPlain(path: string): boolean {
  return path.split('/').every(part => /^[\w][\w .+-]*$/.test(part) && part !== '..')
}

/** Whether a file's content is what the hub says it is. */
export async function matches(path: string, { size, hash: { kind, value } }: HubFile): Promise<boolean> {
  if (sizeOf(path) !== size || !existsSync(path)) return false
  const hash = createHash(kind === 'sha256' ? 'sha256' : 'sha1')
  if (kind === 'git') hash.update(`blob ${size}\0`)
  for await (const bytes of Bun.file(path).stream()) hash.update(bytes)
  return hash.digest('hex') === value
}
