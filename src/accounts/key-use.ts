// Records the time of the last use of each key. A sweep writes the times from memory to the database. A GET request
// therefore never waits for the write lock of the database.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'

export type KeyUses = {
  note(keyId: string): void
  /** Writes the times to the database. Skips a key whose stored time is less than `keyUseEveryMs` older. */
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
