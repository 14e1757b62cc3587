// Exchanges an authorization code for the first tokens of a grant. A code works only once.

import { sameText, sha256 } from '../base/hash.ts'
import type { Db } from '../db/db.ts'
import { endGrant } from './grant.ts'
import { areWithin, issueTokens, type TokenError, type Tokens } from './grant-token.ts'

type Exchange = {
  code: string
  clientId: string
  codeVerifier: string
  /**
   * The redirect address in the token request, which must be the same as in the authorization request. Null if the
   * token request has none: the code verifier already proves that both requests come from the same client.
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
 * Exchanges an authorization code for tokens. The second use of a code is refused and ends the grant. Any other refused
 * request changes nothing.
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
    return issueTokens(db, row.id, { granted: row.scope, asked: null })
  })
}

/** Returns the code challenge for a code verifier (method S256 of RFC 7636). */
function challengeOf(codeVerifier: string): string {
  return new Bun.CryptoHasher('sha256').update(codeVerifier).digest('base64url')
}
