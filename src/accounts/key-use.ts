// Records when each API key was last used. The times are first kept in memory. A sweep (a periodic task of the service)
// writes the times to the database. So a request does not need the write lock of the database to record its time.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'

export type KeyUses = {
  note(keyId: string): void
  /**
   * Writes the times of last use of the API keys to the database. A time that is less than `keyUseEveryMs` after the
   * stored time is not written.
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
            `update keys set last_used_at = $at where id = $id and coalesce(last_used_at, 0) <= $at - $everyMs`,
            { id, at, everyMs: limits.keyUseEveryMs },
          )
      })
      noted.clear()
    },
  }
}
