// Notes when each key was last used. The notes are in memory until a sweep writes them, so that a request that
// only reads never waits for the database to be writable.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'

export type KeyUses = {
  note(keyId: string): void
  /** Writes the notes. A key whose stored time is younger than `keyUseEveryMs` is left out. */
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
