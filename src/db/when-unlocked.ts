import { limits } from '../limits.ts'
import { type Db, refusalOf } from './db.ts'

/**
 * Writes to the database in a transaction. Retries only this write while another process holds the write lock, so
 * that the work before the write is not repeated.
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
