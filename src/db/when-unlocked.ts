import { limits } from '../limits.ts'
import type { Db } from './db.ts'
import { refusalOf } from './refusal.ts'

/**
 * Runs `write` in a transaction. While another process holds the write lock, retries `write` for at most
 * `databaseBusyMs` milliseconds, and then throws.
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
