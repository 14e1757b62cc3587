import { limits } from '../limits.ts'
import { type Db, refusalOf } from './db.ts'

/**
 * Runs `write` in a transaction of the database. If another process holds the write lock, retries only `write`, so that
 * the caller need not repeat the work that it did before.
 */
export async function whenUnlocked<Written>(db: Db, write: () => Written): Promise<Written> {
  const lastTryAt = performance.now() + limits.databaseBusyMs
  for (;;) {
    try {
      return db.tx(write)
    } catch (error) {
      if (refusalOf(error) !== 'busy' || performance.now() >= lastTryAt) throw error
      await Bun.sleep(limits.serverBusyMs)
    }
  }
}
