// The tokens of a grant. A client exchanges an authorization code, or later a refresh token, for an access token and a
// new refresh token. Each code and each refresh token works only once. A second use ends the grant with all its tokens,
// because the code or the refresh token was probably stolen. The database stores only hashes.

import { sha256 } from '../base/hash.ts'
import { newToken } from '../base/id.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { accessTokenStart } from './access-token.ts'
import { endGrant, noteClient } from './grant.ts'
import { type Scope, scopesIn } from './scope.ts'

export type Tokens = { accessToken: string; refreshToken: string; scopes: Scope[] }

/** The reason for refusing an authorization code or a refresh token: an error code of RFC 6749 or RFC 8707. */
export type TokenError = 'invalid_grant' | 'invalid_scope' | 'invalid_target'

const refreshTokenStart = 'str_'

type Refresh = { refreshToken: string; clientId: string; scopes: string[] | null; resources: string[] }

type RefreshRow = {
  hash: string
  grantId: string
  clientId: string
  scope: string
  resources: string
  expiresAt: number
  usedAt: number | null
}

/**
 * Exchanges a refresh token for an access token and a new refresh token. `scopes` may restrict the access token to some
 * of the granted scopes.
 */
export function refreshTokens(db: Db, { refreshToken, ...given }: Refresh): Tokens | TokenError {
  return db.tx(() => {
    const row = db.find<RefreshRow>(
      `select hash, grant_id as grantId, client_id as clientId, grant_tokens.scope, resources,
         expires_at as expiresAt, used_at as usedAt
       from grant_tokens join grants on grants.id = grant_id where hash = $hash and kind = 'refresh'`,
      { hash: sha256(refreshToken) },
    )
    if (!row) return 'invalid_grant'
    if (row.usedAt !== null) {
      endGrant(db, row.grantId)
      return 'invalid_grant'
    }
    if (row.clientId !== given.clientId || row.expiresAt <= db.now()) return 'invalid_grant'
    if (!areWithin(given.resources, row.resources)) return 'invalid_target'
    if (given.scopes && !areWithin(given.scopes, row.scope)) return 'invalid_scope'
    db.run('update grant_tokens set used_at = $now where hash = $hash', { hash: row.hash, now: db.now() })
    noteClient(db, row.clientId)
    return issueTokens(db, row.grantId, { granted: row.scope, asked: given.scopes })
  })
}

/**
 * Issues an access token with the scopes in `asked`, or with all granted scopes if `asked` is null. The refresh token
 * always has all granted scopes.
 */
export function issueTokens(
  db: Db,
  grantId: string,
  { granted, asked }: { granted: string; asked: string[] | null },
): Tokens {
  const accessScopes = scopesIn(granted).filter(scope => asked === null || asked.includes(scope))
  const tokens = { accessToken: accessTokenStart + newToken(), refreshToken: refreshTokenStart + newToken() }
  const now = db.now()
  const insert = (token: string, kind: string, scope: string, ttlMs: number) =>
    db.run(
      `insert into grant_tokens (hash, grant_id, kind, scope, expires_at)
       values ($hash, $grantId, $kind, $scope, $expiresAt)`,
      { hash: sha256(token), grantId, kind, scope, expiresAt: now + ttlMs },
    )
  insert(tokens.accessToken, 'access', accessScopes.join(' '), limits.accessTokenTtlMs)
  insert(tokens.refreshToken, 'refresh', granted, limits.refreshTokenTtlMs)
  return { ...tokens, scopes: accessScopes }
}

/**
 * Revokes a token of this client. Revoking a refresh token ends the whole grant. Unknown tokens and tokens of other
 * clients are ignored.
 */
export function revokeToken(db: Db, token: string, { clientId }: { clientId: string }): void {
  db.tx(() => {
    const hash = sha256(token)
    const row = db.find<{ kind: 'access' | 'refresh'; grantId: string }>(
      `select kind, grant_id as grantId from grant_tokens join grants on grants.id = grant_id
       where hash = $hash and client_id = $clientId`,
      { hash, clientId },
    )
    if (row?.kind === 'refresh') endGrant(db, row.grantId)
    if (row?.kind === 'access') db.run('delete from grant_tokens where hash = $hash', { hash })
  })
}

export function areWithin(asked: string[], granted: string): boolean {
  return asked.every(each => granted.split(' ').includes(each))
}
