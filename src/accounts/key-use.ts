// Records when each API key was last used. The times are kept in memory until a periodic task writes them to the
// database. A request thus needs no write lock of the database.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'

export type KeyUses = {
  note(keyId: string): void
  /**
   * Writes the times of the last uses to the database. Skips a time that is within `keyUseEveryMs` of the time that is
   * already stored for the same key.
   */
  write(): void
}

export function openKeyUses(db: Db): KeyUses {
  const noted = new Map<string, number>()
  return {
    note: keyId => void noted.set(keyId, db.now()),
    write() {
      if (noted.size === 0) return
      db.tx(() => {
        for (const [id, at] of noted)
          db.run(
            `update keys set last_used_at = $at
             where id = $id and (last_used_at is null or abs($at - last_used_at) >= $everyMs)`,
            { id, at, everyMs: limits.keyUseEveryMs },
          )
      })
      noted.clear()
    },
  }
}
