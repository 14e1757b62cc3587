// Checks the OAuth access token of a request.

import { sha256 } from '../base/hash.ts'
import type { Db } from '../db/db.ts'
import { unlessRefused } from '../db/refusal.ts'
import { limits } from '../limits.ts'
import { type Scope, scopesIn } from './scope.ts'

export const accessTokenStart = 'sto_'

export type Access = { grantId: string; accountId: string; clientId: string; scopes: Scope[] }

/**
 * Finds the grant of an access token. Returns null if the token is unknown or revoked, or was expired at the time `at`.
 * Stores the time of the use, unless a use was stored within `sessionUseEveryMs`.
 */
export function useAccessToken(db: Db, token: string, at: number = db.now()): Access | null {
  const row = db.find<Omit<Access, 'scopes'> & { scope: string; lastUsedAt: number }>(
    `select grant_id as grantId, account_id as accountId, client_id as clientId, grant_tokens.scope,
       last_used_at as lastUsedAt
     from grant_tokens join grants on grants.id = grant_id
     where hash = $hash and kind = 'access' and expires_at > $at`,
    { hash: sha256(token), at },
  )
  if (!row) return null
  if (Math.abs(db.now() - row.lastUsedAt) >= limits.sessionUseEveryMs) noteUse(db, row.grantId)
  const { grantId, accountId, clientId } = row
  return { grantId, accountId, clientId, scopes: scopesIn(row.scope) }
}

/**
 * Stores the current time as the last use of a grant. Stores nothing if the database is busy or its disk is full or
 * faulty: a request with a valid access token must succeed even then.
 */
function noteUse(db: Db, id: string): void {
  const statement = 'update grants set last_used_at = $now where id = $id'
  unlessRefused(() => db.run(statement, { id, now: db.now() }))
}
