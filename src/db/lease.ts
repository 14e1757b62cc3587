// A lease in a folder that several servers share. Each server also has its own database. Only the server that holds the
// lease may write to its own database. The holder renews the lease at short intervals. If the renewals stop, another
// server takes the lease. Each lease has a number, its generation. The generation of a new lease is higher by 1 than
// the generation of the previous lease.

import { readFile, rm } from 'node:fs/promises'
import { limits } from '../limits.ts'
import type { Clock } from './db.ts'
import {
  type Content,
  contentOf,
  createFile,
  findGeneration,
  pathOf,
  replaceFile,
  unnamed,
} from './lease-file.ts'

export type LeaseOptions = {
  folder: string
  /** The name of this server in the lease: the id of its data folder. */
  holder: string
  /** If the holder has not renewed the lease for this time, in milliseconds, another server may take the lease. */
  afterMs: number
  /**
   * A monotonic clock in milliseconds. Each server uses its own clock, and the times of two servers are never compared.
   */
  monotonic: Clock
}

export type Lease = {
  generation: number
  /** The lease before this lease. If this lease is the first one in the folder, `last.generation` is 0. */
  last: Found
  /**
   * Returns true if the last renewal is at most half of `afterMs` ago. Otherwise, this server must not write to the
   * database. After `afterMs` without a renewal, another server can take the lease.
   */
  isValid(): boolean
  /**
   * Renews the lease. Returns false if another server has taken a lease with a higher generation. While a renewal is
   * running, a further call returns the result of this renewal. If each call started a renewal, many renewals would
   * wait for a slow folder. A renewal is valid from the time of its call, so one that waited long could be too old.
   */
  renew(): Promise<boolean>
  /**
   * Writes the name of this server into the lease file. (When a server takes the lease, it creates the file without a
   * name.) Must be called only when this server has the latest database. Returns false if another server has taken a
   * lease with a higher generation.
   */
  own(): Promise<boolean>
  /** Gives up the lease, so that another server can take the lease at once. */
  release(): Promise<boolean>
}

/**
 * A lease that was found in the folder. `holder` is the server that was the last to confirm that its database is the
 * latest one, with this lease or with one before it. It is null if no server did, and undefined if it is not known.
 */
export type Found = { generation: number; holder: string | null | undefined }

/**
 * Returns a function that tries to take the lease. The caller must call this function repeatedly. The function returns
 * null as long as another server may hold the lease. When the lease is free, the function calls `onFree` with the
 * previous lease, and then takes the lease. If another server takes the lease at the same moment, the function also
 * returns null.
 */
export function openLease(
  options: LeaseOptions,
  onFree: (last: Found) => void = () => {},
): () => Promise<Lease | null> {
  const { folder, holder, afterMs, monotonic } = options
  let seen = { text: '', sinceMs: monotonic() }
  return async () => {
    const { generation, text } = await readLast(folder)
    const last = contentOf(text)
    const seenText = `${generation} ${text}`
    if (seen.text !== seenText) seen = { text: seenText, sinceMs: monotonic() }
    const isFree = generation === 0 || last.isReleased || last.holder === holder
    if (!isFree && monotonic() - seen.sinceMs < afterMs) return null
    // Before the first lease, no server could confirm its database.
    const found = { generation, holder: last.holder ?? (generation > 1 ? last.lastHolder : null) }
    onFree(found)
    return await take(options, found)
  }
}

/**
 * Returns true if a server with the name `holder` renews the lease at this moment. Returns false at once if no such
 * server holds the lease, or if it has released the lease.
 */
export async function isRenewedBy({
  folder,
  holder,
  afterMs,
}: Omit<LeaseOptions, 'monotonic'>): Promise<boolean> {
  const { generation, ...seen } = await readLast(folder)
  let { text } = seen
  const last = contentOf(text)
  if (last.holder !== holder || last.isReleased) return false
  // The last renewal of a server that was killed may become visible late, so one renewal is not enough.
  for (let renewals = 0; renewals < 2; renewals++) {
    // Twice the time between two renewals, so that one of them may be late.
    await Bun.sleep((2 * afterMs) / limits.standbyLooks)
    const now = await readLast(folder)
    if (now.generation !== generation || now.text === text) return false
    text = now.text
  }
  return true
}

/** Reads the latest lease in the folder. If the folder has no lease, the generation is 0, and the text is empty. */
async function readLast(folder: string): Promise<{ generation: number; text: string }> {
  const generation = await findGeneration(folder)
  return { generation, text: generation === 0 ? '' : await readFile(pathOf(folder, generation), 'utf8') }
}

async function take(
  { folder, holder, afterMs, monotonic }: LeaseOptions,
  last: Found,
): Promise<Lease | null> {
  const generation = last.generation + 1
  const path = pathOf(folder, generation)
  let content: Content = { ...unnamed, lastHolder: last.holder }
  let renewedAt = monotonic()
  try {
    // If several servers create this file at the same time, only one of them succeeds. The file is created with its
    // content in one step. A server that ended between two steps would leave an empty file, which does not name the
    // last holder. The last holder would then replace its own database with an older copy.
    await createFile(path, JSON.stringify(content))
  } catch (error) {
    if (Object(error).code === 'EEXIST') return null
    throw error
  }
  /**
   * The last write to the lease file. Each write starts after the end of the previous write. If two writes ran at the
   * same time, the content of the earlier write could stay in the file.
   */
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
  let renewal: Promise<boolean> | null = null
  const renew = () => {
    renewal ??= write({}).finally(() => {
      renewal = null
    })
    return renewal
  }
  await rm(pathOf(folder, generation - 2), { force: true })
  return {
    generation,
    last,
    isValid: () => monotonic() - renewedAt <= afterMs / 2,
    renew,
    own: () => write({ holder }),
    release: () => write({ isReleased: true }),
  }
}
