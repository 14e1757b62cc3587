// Grants: the access that an account allowed to a client. A grant begins with an authorization code, which the client
// exchanges for tokens. The database stores only the hash of the code.

import { sha256 } from '../base/hash.ts'
import { newId, newToken } from '../base/id.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { requireNotDeleted } from './account.ts'
import { purgeRows } from './purge-rows.ts'
import { type Scope, scopesIn } from './scope.ts'

export type Grant = {
  id: string
  clientName: string
  scopes: Scope[]
  createdAt: number
  lastUsedAt: number
}

const codeStart = 'stc_'

type Asked = {
  accountId: string
  clientId: string
  scopes: Scope[]
  resources: string[]
  redirectUri: string
  codeChallenge: string
}

/**
 * Creates a grant and returns its authorization code. If an account has more than `grantsMax` grants, the grant that
 * was unused for the longest time is deleted. A grant whose last use is in the future (the clock was wrong then) is
 * deleted first.
 */
export function createGrant(db: Db, { scopes, resources, ...asked }: Asked): string {
  const code = codeStart + newToken()
  db.tx(() => {
    requireNotDeleted(db, asked.accountId)
    const now = db.now()
    db.run(
      `insert into grants (id, account_id, client_id, scope, resources, created_at, last_used_at, code_hash,
         code_challenge, code_redirect_uri, code_expires_at)
       values ($id, $accountId, $clientId, $scope, $resources, $now, $now, $codeHash, $codeChallenge,
         $redirectUri, $expiresAt)`,
      {
        ...asked,
        id: newId(),
        scope: scopes.join(' '),
        resources: resources.join(' '),
        now,
        codeHash: sha256(code),
        expiresAt: now + limits.codeTtlMs,
      },
    )
    noteClient(db, asked.clientId)
    db.run(
      `delete from grants where id in (
         select id from grants where account_id = $accountId
         order by last_used_at > $now, last_used_at desc, id desc limit -1 offset $kept)`,
      { accountId: asked.accountId, now, kept: limits.grantsMax },
    )
  })
  return code
}

/** Stores the current time as the last use of a client. `purgeClients` removes unused clients. */
export function noteClient(db: Db, id: string): void {
  db.run('update clients set used_at = $now where id = $id', { id, now: db.now() })
}

/** Lists the grants of an account, newest first, without grants whose authorization code was never exchanged. */
export function listGrants(db: Db, accountId: string): Grant[] {
  return db
    .list<Omit<Grant, 'scopes'> & { scope: string }>(
      `select grants.id, clients.name as clientName, scope, grants.created_at as createdAt,
         last_used_at as lastUsedAt
       from grants join clients on clients.id = client_id
       where account_id = $accountId and code_used_at is not null order by grants.created_at desc, grants.id desc`,
      { accountId },
    )
    .map(({ scope, ...grant }) => ({ ...grant, scopes: scopesIn(scope) }))
}

/** Ends a grant of this account. Returns false if the account has no grant with this id. */
export function revokeGrant(db: Db, accountId: string, id: string): boolean {
  return db.run('delete from grants where id = $id and account_id = $accountId', { id, accountId }) > 0
}

export function endGrant(db: Db, id: string): void {
  db.run('delete from grants where id = $id', { id })
}

/**
 * Removes expired tokens, grants that have no token left, and grants whose authorization code was not exchanged in
 * time: at most `purgedRowsMax` of each. Returns true if more of them may be left.
 */
export function purgeGrants(db: Db): boolean {
  return db.tx(() => {
    const now = db.now()
    const hasMoreTokens = purgeRows(db, {
      table: 'grant_tokens',
      key: 'hash',
      // An access token is kept for some time after its expiry. A request that began before the expiry may still be
      // running, and may check its token again.
      where: `expires_at <= $now and (kind = 'refresh' or expires_at <= $now - $accessTokenKeptMs)`,
      params: { now, accessTokenKeptMs: limits.accessTokenKeptMs },
    })
    const hasMoreUnused = purgeRows(db, {
      table: 'grants',
      key: 'id',
      where: 'code_used_at is null and code_expires_at <= $now',
      params: { now },
    })
    const hasMoreEnded = purgeRows(db, {
      table: 'grants',
      key: 'id',
      where: `code_used_at is not null
        and not exists (select 1 from grant_tokens where grant_id = grants.id)`,
    })
    return hasMoreTokens || hasMoreUnused || hasMoreEnded
  })
}
