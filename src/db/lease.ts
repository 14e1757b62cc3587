// A lease in a folder that several servers share. Only the server that holds the lease may write its database. The holder
// renews the lease; when the renewals stop, another server takes the lease with the next higher generation.

import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { draftPath } from '../base/whole-file.ts'
import type { Clock } from './db.ts'

export type LeaseOptions = {
  folder: string
  /** The id of this server's data folder. */
  holder: string
  /** Time without a renewal after which another server may take the lease. */
  afterMs: number
  /** A monotonic clock in milliseconds. The clocks of the servers are never compared. */
  monotonic: Clock
}

/** The content of a lease file. `beat` differs after each renewal. */
type Content = { holder: string | null; beat: number; isReleased: boolean }

const unnamed: Content = { holder: null, beat: 0, isReleased: false }

export type Lease = {
  generation: number
  /** The lease before this one. Its generation is 0 if there was none. */
  last: Found
  /** Returns false when the lease was not renewed for half of `afterMs`. Then this server must not write any more. */
  isValid(): boolean
  /** Renews the lease. Returns false when another server has a higher generation. */
  renew(): Promise<boolean>
  /** Stores that the database of this server is the latest one. Until then, the lease names no holder. */
  own(): Promise<boolean>
  /** Lets another server take the lease at once. */
  release(): Promise<boolean>
}

export type Found = { generation: number; holder: string | null }

/**
 * Returns a function that tries to take the lease. The function returns null as long as another server may hold the
 * lease, and must be called repeatedly. `onFree` is called with the last lease before the lease is taken.
 */
export function openLease(
  options: LeaseOptions,
  onFree: (last: Found) => void = () => {},
): () => Promise<Lease | null> {
  const { folder, holder, afterMs, monotonic } = options
  let seen = { text: '', sinceMs: monotonic() }
  return async () => {
    const generation = await findGeneration(folder)
    const text = generation === 0 ? '' : await readFile(pathOf(folder, generation), 'utf8')
    const last = contentOf(text)
    const seenText = `${generation} ${text}`
    if (seen.text !== seenText) seen = { text: seenText, sinceMs: monotonic() }
    const isFree = generation === 0 || last.isReleased || last.holder === holder
    if (!isFree && monotonic() - seen.sinceMs < afterMs) return null
    const found = { generation, holder: last.holder }
    onFree(found)
    return await take(options, found)
  }
}

async function take(
  { folder, holder, afterMs, monotonic }: LeaseOptions,
  last: Found,
): Promise<Lease | null> {
  const generation = last.generation + 1
  const path = pathOf(folder, generation)
  let content = unnamed
  let renewedAt = monotonic()
  try {
    // The flag makes the creation exclusive: of several servers, one succeeds.
    await writeFile(path, JSON.stringify(content), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (Object(error).code === 'EEXIST') return null
    throw error
  }
  /** The last write. A write waits for it, because the last one to end would win. */
  let writing: Promise<unknown> = Promise.resolve()
  const write = (change: Partial<Content>) => {
    const beganAt = monotonic()
    const written = writing.then(() => writeNow(change, beganAt))
    writing = written.catch(() => {})
    return written
  }
  const writeNow = async (change: Partial<Content>, beganAt: number) => {
    content = { ...content, ...change, beat: content.beat + 1 }
    await replaceFile(path, JSON.stringify(content))
    if ((await findGeneration(folder)) > generation) return false
    renewedAt = beganAt
    return true
  }
  await rm(pathOf(folder, generation - 2), { force: true })
  return {
    generation,
    last,
    isValid: () => monotonic() - renewedAt <= afterMs / 2,
    renew: () => write({}),
    own: () => write({ holder }),
    release: () => write({ isReleased: true }),
  }
}

function pathOf(folder: string, generation: number): string {
  return join(folder, `lease-${`${generation}`.padStart(8, '0')}`)
}

/** Returns the highest generation in the folder, or 0 if no server has held the lease. */
async function findGeneration(folder: string): Promise<number> {
  const names = await readdir(folder)
  return Math.max(0, ...names.map(name => Number(/^lease-(\d+)$/.exec(name)?.[1] ?? 0)))
}

/** Parses the content of a lease file. A file that its writer has not filled yet names no holder. */
function contentOf(text: string): Content {
  return text.endsWith('}') ? (JSON.parse(text) as Content) : unnamed
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = draftPath(path)
  await writeFile(draft, text, { mode: 0o600 })
  await rename(draft, path)
}
