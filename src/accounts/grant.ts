// Grants: the access that an account allowed to a client. The client exchanges the code of a grant for an access
// token and a refresh token, and later this refresh token for the next pair. A code or a refresh token works only
// once: a second use means that it was stolen, and ends the grant with all its tokens. The database stores only
// hashes of codes and tokens.

import { sameText, sha256 } from '../base/hash.ts'
import { newId, newToken } from '../base/id.ts'
import { type Db, refusalOf } from '../db/db.ts'
import { limits } from '../limits.ts'

export const scopes = ['read', 'write'] as const
export type Scope = (typeof scopes)[number]

export type Grant = {
  id: string
  clientName: string
  scopes: Scope[]
  createdAt: number
  lastUsedAt: number
}

export type Tokens = { accessToken: string; refreshToken: string; scopes: Scope[] }

/** The reason why a code or a refresh token was refused: an error code of RFC 6749 or RFC 8707. */
export type TokenError = 'invalid_grant' | 'invalid_scope' | 'invalid_target'

export const accessTokenStart = 'sto_'
const refreshTokenStart = 'str_'
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
 * Creates a grant and returns its code. An account can have `grantsMax` grants. If there are more, those that were
 * not used for the longest time are deleted.
 */
export function createGrant(db: Db, { scopes, resources, ...asked }: Asked): string {
  const code = codeStart + newToken()
  db.tx(() => {
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
         order by last_used_at desc, id desc limit -1 offset $kept)`,
      { accountId: asked.accountId, kept: limits.grantsMax },
    )
  })
  return code
}

type Exchange = {
  code: string
  clientId: string
  codeVerifier: string
  /**
   * The redirect address of the authorization request. Null if the client did not send it again. The client may leave
   * it out, because the code verifier already identifies the client.
   */
  redirectUri: string | null
  resources: string[]
}

type CodeRow = {
  id: string
  clientId: string
  scope: string
  resources: string
  challenge: string
  redirectUri: string
  expiresAt: number
  usedAt: number | null
}

/**
 * Exchanges a code for tokens. The second use of a code ends the grant. A request that is refused for another reason
 * changes nothing.
 */
export function exchangeCode(db: Db, { code, ...given }: Exchange): Tokens | TokenError {
  return db.tx(() => {
    const row = db.find<CodeRow>(
      `select id, client_id as clientId, scope, resources, code_challenge as challenge,
         code_redirect_uri as redirectUri, code_expires_at as expiresAt, code_used_at as usedAt
       from grants where code_hash = $hash`,
      { hash: sha256(code) },
    )
    if (!row) return 'invalid_grant'
    if (row.usedAt !== null) {
      endGrant(db, row.id)
      return 'invalid_grant'
    }
    if (row.clientId !== given.clientId || row.expiresAt <= db.now()) return 'invalid_grant'
    if (given.redirectUri !== null && given.redirectUri !== row.redirectUri) return 'invalid_grant'
    if (!sameText(challengeOf(given.codeVerifier), row.challenge)) return 'invalid_grant'
    if (!areWithin(given.resources, row.resources)) return 'invalid_target'
    db.run('update grants set code_used_at = $now, last_used_at = $now where id = $id', {
      id: row.id,
      now: db.now(),
    })
    noteClient(db, row.clientId)
    return issueTokens(db, row.id, { granted: row.scope, asked: null })
  })
}

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
 * Exchanges a refresh token for the next access token and refresh token. `scopes` may restrict the access token to
 * some of the granted scopes.
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

/** Stores the time of the last use of a client, so that `purgeClients` keeps the client. */
function noteClient(db: Db, id: string): void {
  db.run('update clients set used_at = $now where id = $id', { id, now: db.now() })
}

/** Issues an access token with the scopes in `asked`, and a refresh token with all granted scopes. */
function issueTokens(
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

export type Access = { grantId: string; accountId: string; clientId: string; scopes: Scope[] }

/**
 * Finds the grant of an access token, and stores the time of this use. Returns null if the token is unknown or
 * expired.
 */
export function useAccessToken(db: Db, token: string): Access | null {
  const row = db.find<Omit<Access, 'scopes'> & { scope: string; lastUsedAt: number }>(
    `select grant_id as grantId, account_id as accountId, client_id as clientId, grant_tokens.scope,
       last_used_at as lastUsedAt
     from grant_tokens join grants on grants.id = grant_id
     where hash = $hash and kind = 'access' and expires_at > $now`,
    { hash: sha256(token), now: db.now() },
  )
  if (!row) return null
  if (row.lastUsedAt <= db.now() - limits.sessionUseEveryMs) noteUse(db, row.grantId)
  const { grantId, accountId, clientId } = row
  return { grantId, accountId, clientId, scopes: scopesIn(row.scope) }
}

/**
 * Stores the time of the last use of a grant. Does nothing if the database is locked or full, because the request is
 * allowed in any case.
 */
function noteUse(db: Db, id: string): void {
  try {
    db.run('update grants set last_used_at = $now where id = $id', { id, now: db.now() })
  } catch (error) {
    if (!refusalOf(error)) throw error
  }
}

/**
 * Revokes a token of this client. The end of a refresh token ends the whole grant. The end of an access token does
 * not. A token that is unknown or belongs to another client is ignored.
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

/** Lists the grants of an account, newest first. A grant whose code was never exchanged is left out. */
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

function endGrant(db: Db, id: string): void {
  db.run('delete from grants where id = $id', { id })
}

/** Removes expired tokens, grants whose code was never exchanged, and grants without a token. */
export function purgeGrants(db: Db): void {
  db.tx(() => {
    const now = db.now()
    db.run('delete from grant_tokens where expires_at <= $now', { now })
    db.run('delete from grants where code_used_at is null and code_expires_at <= $now', { now })
    db.run(
      `delete from grants where code_used_at is not null
       and not exists (select 1 from grant_tokens where grant_id = grants.id)`,
    )
  })
}

/** Returns the code challenge for a code verifier, by the method S256 of RFC 7636. */
function challengeOf(codeVerifier: string): string {
  return new Bun.CryptoHasher('sha256').update(codeVerifier).digest('base64url')
}

function scopesIn(text: string): Scope[] {
  return scopes.filter(scope => text.split(' ').includes(scope))
}

function areWithin(asked: string[], granted: string): boolean {
  return asked.every(each => granted.split(' ').includes(each))
}
