// A lease in a folder that several servers share. Each server has its own database, and may write to it only while the
// server holds the lease. The holder renews the lease at short intervals. If the renewals stop, another server takes a
// new lease. Each lease has a number, called its generation: 1, 2, 3 and so on.

import { readdirSync, readFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { limits } from '../limits.ts'
import type { Clock } from './db.ts'
import {
  type Content,
  contentOf,
  createFile,
  findGeneration,
  highestGeneration,
  pathOf,
  replaceFile,
  unnamed,
} from './lease-file.ts'

export type LeaseOptions = {
  folder: string
  /** The name of this server in the lease: the id of its data folder. */
  holder: string
  /** The time in milliseconds without a renewal after which another server may take the lease. */
  afterMs: number
  /**
   * A monotonic clock in milliseconds. Its time is never compared with that of another server, so it may begin
   * anywhere.
   */
  monotonic: Clock
}

export type Lease = {
  generation: number
  /**
   * The lease before this lease in the shared folder. If this lease is the first one there, `last` stands for no lease:
   * its `generation` is 0, and its `holder` is null.
   */
  last: Found
  /**
   * Returns true if the last renewal is at most half of `afterMs` ago. Otherwise, this server must not write to its
   * database, because another server could soon take the lease.
   */
  isValid(): boolean
  /**
   * Renews the lease. Returns false if another server has taken a newer lease. A call during a renewal returns the
   * result of the running renewal, so that renewals do not queue up on a slow folder.
   */
  renew(): Promise<boolean>
  /**
   * Writes the name of this server into the lease file, which is created without a name. Must be called only when this
   * server has the latest database. Returns false if another server has taken a newer lease.
   */
  own(): Promise<boolean>
  /** Gives up the lease: another server can take a new lease at once. */
  release(): Promise<boolean>
}

/**
 * A lease that was found in the folder. `holder` is the last server that confirmed, in this lease or an earlier one,
 * that it has the latest database. Null if no server did, and undefined if not known.
 */
export type Found = { generation: number; holder: string | null | undefined }

/**
 * Returns a function that makes one attempt to take the lease. The caller repeats the attempt until the result is a
 * lease. The result is null if another server may still hold the lease, or if another server takes it at the same
 * moment. Before an attempt to take a free lease, `onFree` is called with the previous lease.
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
    // The lease of generation 1 is the first lease. Before it, no server had confirmed that its database is the latest.
    // So if this lease names no holder, there is no last holder: null. In a later lease, a missing field `lastHolder`
    // means that the last holder is not known: undefined.
    const found = { generation, holder: last.holder ?? (generation > 1 ? last.lastHolder : null) }
    onFree(found)
    return await take(options, found)
  }
}

/**
 * Returns true if a server with the name `holder` is now renewing the lease. Returns false at once if no such server
 * holds the lease, or if the lease is released.
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
  // The last renewal of a killed server may become visible late in the shared folder. So one renewal does not prove
  // that the server `holder` still runs, and two are needed.
  for (let renewals = 0; renewals < 2; renewals++) {
    // A holder renews the lease at intervals of `afterMs / standbyLooks`. The wait is twice as long, so that a renewal
    // may be late.
    await Bun.sleep((2 * afterMs) / limits.standbyLooks)
    const now = await readLast(folder)
    if (now.generation !== generation || now.text === text) return false
    text = now.text
  }
  return true
}

/**
 * Returns the last server that confirmed that it has the latest database. Null if no server did, and undefined if not
 * known.
 */
export function readLastHolder(folder: string): string | null | undefined {
  const generation = highestGeneration(readdirSync(folder))
  if (generation === 0) return null
  const { holder, lastHolder } = contentOf(readFileSync(pathOf(folder, generation), 'utf8'))
  return holder ?? lastHolder
}

/** Reads the latest lease in the folder. Without a lease, the generation is 0, and the text is empty. */
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
    // If several servers create this file at the same time, only one succeeds. `createFile` creates it with its
    // content, which names the last holder: the server with the latest database. If the file were created empty, a
    // crash could leave it empty. This server would then not recognise itself as the last holder, and would replace its
    // database with an older copy.
    await createFile(path, JSON.stringify(content))
  } catch (error) {
    if (Object(error).code === 'EEXIST') return null
    throw error
  }
  /**
   * The last write to the lease file. Writes run one after the other: after two writes at the same time, the file could
   * keep the content of the earlier one.
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
