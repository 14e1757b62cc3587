import { limits } from '../limits.ts'
import { type Db, refusalOf } from './db.ts'

/**
 * Writes to the database in a transaction. While another process holds the write lock, retries the write, so that the
 * caller need not repeat its earlier work.
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
