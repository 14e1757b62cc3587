// API keys. The text of a key is shown once, at its creation. The database stores the hash of this text, and the
// signing secret of the key.

import { sha256 } from '../base/hash.ts'
import { newId, newToken } from '../base/id.ts'
import type { Secrets } from '../base/seal.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { requireNotDeleted } from './account.ts'
import { signingSecretOf } from './signing-secret.ts'

export type Key = {
  id: string
  accountId: string
  name: string | null
  prefix: string
  createdAt: number
  /**
   * The time of the last stored use of this API key, or null. Uses are stored every STENO_SWEEP_EVERY, but at most once
   * per `keyUseEveryMs`.
   */
  lastUsedAt: number | null
  revokedAt: number | null
}

const columns = `id, account_id as accountId, name, prefix, created_at as createdAt, last_used_at as lastUsedAt,
  revoked_at as revokedAt`
export const keyStart = 'sk_live_'
const shownCharacters = 4

/**
 * Creates an API key. Returns its id and its text, which is not stored. Returns null if the account already has
 * `activeKeysMax` active keys.
 */
export function createKey(
  db: Db,
  secrets: Secrets,
  accountId: string,
  { name }: { name: string | null },
): { id: string; key: string } | null {
  const key = keyStart + newToken()
  const id = newId()
  return db.tx(() => {
    requireNotDeleted(db, accountId)
    const active = listKeys(db, accountId).filter(({ revokedAt }) => revokedAt === null)
    if (active.length >= limits.activeKeysMax) return null
    db.run(
      `insert into keys (id, account_id, name, prefix, hash, sealed_secret, created_at)
       values ($id, $accountId, $name, $prefix, $hash, $sealedSecret, $now)`,
      {
        id,
        accountId,
        name,
        prefix: key.slice(0, keyStart.length + shownCharacters),
        hash: lookupHash(key),
        sealedSecret: secrets.seal(signingSecretOf(key)),
        now: db.now(),
      },
    )
    return { id, key }
  })
}

export function findKey(db: Db, key: string): Key | null {
  return db.find<Key>(`select ${columns} from keys where hash = $hash`, { hash: lookupHash(key) })
}

export function listKeys(db: Db, accountId: string): Key[] {
  return db.list<Key>(`select ${columns} from keys where account_id = $accountId order by created_at, id`, {
    accountId,
  })
}

/** Returns the newest active key of an account, or null if there is none. */
export function findNewestKey(db: Db, accountId: string): Key | null {
  return listKeys(db, accountId).findLast(({ revokedAt }) => revokedAt === null) ?? null
}

/** Revokes a key. Returns false if no key has this id, and true for a key that was already revoked. */
export function revokeKey(db: Db, id: string): boolean {
  return db.tx(() => {
    db.run('update keys set revoked_at = $now where id = $id and revoked_at is null', { id, now: db.now() })
    return db.find('select 1 from keys where id = $id', { id }) !== null
  })
}

function lookupHash(key: string): string {
  return sha256(`steno key ${key}`)
}
