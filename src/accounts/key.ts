// API keys: shown once, found by a hash, their signing secret sealed with the data folder's own secret.

import { sha256 } from '../base/hash.ts'
import { newId, newToken } from '../base/id.ts'
import type { Secrets } from '../base/seal.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'

export type Key = {
  id: string
  accountId: string
  name: string | null
  prefix: string
  createdAt: number
  revokedAt: number | null
}

const columns = 'id, account_id as accountId, name, prefix, created_at as createdAt, revoked_at as revokedAt'
const keyStart = 'sk_live_'
const shownCharacters = 4

/** Gives the key itself, for the only time. Null when the account has as many active keys as it may. */
export function createKey(
  db: Db,
  secrets: Secrets,
  accountId: string,
  { name }: { name: string | null },
): { id: string; key: string } | null {
  const key = keyStart + newToken()
  const id = newId()
  return db.tx(() => {
    const active = listKeys(db, accountId).filter(each => each.revokedAt === null)
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
        sealedSecret: secrets.seal(sha256(key)),
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

/** False when there is no such key. Revoking twice changes nothing. */
export function revokeKey(db: Db, id: string): boolean {
  return db.tx(() => {
    db.run('update keys set revoked_at = $now where id = $id and revoked_at is null', { id, now: db.now() })
    return db.find('select 1 from keys where id = $id', { id }) !== null
  })
}

/** What callbacks of jobs submitted with this key are signed with, revoked or not. */
export function signingSecretOf(db: Db, secrets: Secrets, keyId: string): string {
  const row = db.find<{ sealed: string }>('select sealed_secret as sealed from keys where id = $keyId', {
    keyId,
  })
  if (!row) throw new Error(`no key ${keyId}`)
  return secrets.open(row.sealed)
}

function lookupHash(key: string): string {
  return sha256(`steno key ${key}`)
}
