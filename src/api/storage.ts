// Checks whether the service can write to the database and to the folders of media files.

import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import { canWriteMedia } from '../jobs/media-files.ts'
import { limits } from '../limits.ts'

export type Storage = { database: boolean; media: boolean }

type Stores = { db: Pick<Db, 'probe' | 'durable'>; config: Pick<Config, 'dataDir'> }

/**
 * Returns a function that checks whether the database and the media folders can be written. The function reuses its
 * last result for `readyEveryMs`, because anyone may request /v1/ready.
 */
export function openStorageCheck(
  { db, config }: Stores,
  { waitMs = limits.readyWaitMs }: { waitMs?: number } = {},
): () => Promise<Storage> {
  let last: Promise<Storage> | null = null
  let checkedAt = 0
  return () => {
    const now = performance.now()
    if (last && now - checkedAt < limits.readyEveryMs) return last
    checkedAt = now
    last = check()
    return last
  }

  async function check(): Promise<Storage> {
    return { database: await canWrite(db, waitMs), media: canWriteMedia(config.dataDir) }
  }
}

/** Returns true if a write to the database succeeds, and reaches the disk within `waitMs`. */
async function canWrite(db: Stores['db'], waitMs: number): Promise<boolean> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(reject, waitMs)
  try {
    db.probe()
    await Promise.race([db.durable(), late])
    return true
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}
