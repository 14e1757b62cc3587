// Fetches a model from the hub: goes on where it stopped, checks every file against the hub's own hash, and puts
// the whole in its place at once, with a lock file that says what it is.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { limits } from '../limits.ts'
import { findRevision, type Hub, HubError, type HubFile, listFiles, openFile } from '../net/hub.ts'

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

export async function pull({
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
  for (const { path } of files) if (!isPlain(path)) throw new HubError(`the hub names a file ${path}`)
  const total = files.reduce((sum, each) => sum + each.size, 0)
  // What an earlier try has left is of use only for the same commit.
  const place = `${folder}.${commit.slice(0, 12)}.part`
  let done = 0
  for (const file of files) {
    const before = done
    await fetchFile(
      { hub, repository, revision: commit, file, path: join(place, file.path), signal },
      bytes => onProgress(before + bytes, total),
    )
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

type Fetch = {
  hub: Hub
  repository: string
  revision: string
  file: HubFile
  path: string
  signal: AbortSignal
}

async function fetchFile(order: Fetch, onBytes: (bytes: number) => void): Promise<void> {
  const { file, path } = order
  mkdirSync(dirname(path), { recursive: true })
  if (existsSync(path)) return onBytes(file.size)
  const part = `${path}.part`
  for (let tries = 1; ; ) {
    const before = sizeOf(part)
    try {
      await append(order, part, onBytes)
    } catch (error) {
      order.signal.throwIfAborted()
      if (!(error instanceof HubError)) throw error
      tries = sizeOf(part) > before ? 1 : tries + 1
      if (tries > limits.pullTriesMax) throw error
      continue
    }
    if (await matches(part, file)) return renameSync(part, path)
    rmSync(part)
    tries++
    if (tries > limits.pullTriesMax)
      throw new HubError(`${file.path} does not have the hash that the hub gives`)
  }
}

/** Adds to the part what is missing of it, and throws when it ends too soon. */
async function append(
  { hub, repository, revision, file, signal }: Fetch,
  part: string,
  onBytes: (bytes: number) => void,
) {
  let from = sizeOf(part)
  if (from > file.size) {
    rmSync(part)
    from = 0
  }
  if (from === file.size && from > 0) return
  const { body, resumed } = await openFile(hub, { repository, revision, path: file.path, from }, signal)
  if (!resumed && from > 0) {
    rmSync(part)
    from = 0
  }
  const { createWriteStream } = await import('node:fs')
  const { once } = await import('node:events')
  const sink = createWriteStream(part, { flags: 'a' })
  let size = from
  try {
    for await (const bytes of body) {
      size += bytes.length
      if (size > file.size) throw new HubError(`${file.path} is longer than the hub says`)
      if (!sink.write(bytes)) await once(sink, 'drain')
      onBytes(size)
    }
  } catch (error) {
    throw error instanceof HubError ? error : new HubError(`the transfer of ${file.path} broke off`)
  } finally {
    sink.end()
    await once(sink, 'close')
  }
  if (size < file.size) throw new HubError(`the transfer of ${file.path} broke off`)
}

/** Whether a file's content is what the hub says it is. */
export async function matches(path: string, { size, hash: { kind, value } }: HubFile): Promise<boolean> {
  if (sizeOf(path) !== size || !existsSync(path)) return false
  const hash = createHash(kind === 'sha256' ? 'sha256' : 'sha1')
  if (kind === 'git') hash.update(`blob ${size}\0`)
  for await (const bytes of Bun.file(path).stream()) hash.update(bytes)
  return hash.digest('hex') === value
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0
}
