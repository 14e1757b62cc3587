import { limits } from '../limits.ts'
import type { Db } from './db.ts'
import { refusalOf } from './refusal.ts'

/**
 * Runs `write` in a transaction of the database. If another process holds the write lock, retries for up to
 * `databaseBusyMs`, and then throws the error. Only `write` is retried, so slow work before it need not be repeated.
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
