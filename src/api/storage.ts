// Checks whether the service can store data: in the database, and in the folders of media files.

import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import { canWriteMedia } from '../jobs/media-files.ts'
import { limits } from '../limits.ts'

export type Storage = { database: boolean; media: boolean }

type Stores = { db: Pick<Db, 'probe' | 'durable'>; config: Pick<Config, 'dataDir'> }

/**
 * Returns a function that checks whether the database and the folders of media files can be written. The function
 * reuses its last result for `readyEveryMs`, because anyone may send any number of requests to /v1/ready.
 */
export function openStorageCheck({ db, config }: Stores): () => Promise<Storage> {
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
    return { database: await canWrite(db), media: canWriteMedia(config.dataDir) }
  }
}

/** Returns true if a write to the database succeeds, and reaches the disk. */
async function canWrite(db: Stores['db']): Promise<boolean> {
  try {
    db.probe()
    await db.durable()
    return true
  } catch {
    return false
  }
}
