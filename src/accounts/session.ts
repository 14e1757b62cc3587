// Sign-in sessions. The browser keeps the token of a session in a cookie. The database stores only the hash of the
// token.

import { sha256 } from '../base/hash.ts'
import { newToken } from '../base/id.ts'
import type { Db } from '../db/db.ts'
import { unlessRefused } from '../db/refusal.ts'
import { limits } from '../limits.ts'
import { requireNotDeleted } from './account.ts'
import { purgeRows } from './purge-rows.ts'

export type Session = {
  accountId: string
  /** The id of the API key with which the person signed in. Null if the person signed in with a password. */
  keyId: string | null
  createdAt: number
  lastUsedAt: number
  expiresAt: number
}

const columns = `account_id as accountId, key_id as keyId, created_at as createdAt, last_used_at as lastUsedAt,
  expires_at as expiresAt`

/**
 * Creates a session and returns its token. If an account has more than `sessionsMax` sessions, the session that was
 * unused for the longest time is deleted. A session whose last use is in the future (the clock was wrong then) is
 * deleted first.
 */
export function createSession(db: Db, { accountId, keyId }: Pick<Session, 'accountId' | 'keyId'>): string {
  const token = newToken()
  db.tx(() => {
    requireNotDeleted(db, accountId)
    const now = db.now()
    db.run(
      `insert into sessions (token_hash, account_id, key_id, created_at, last_used_at, expires_at)
       values ($tokenHash, $accountId, $keyId, $now, $now, $expiresAt)`,
      { tokenHash: sha256(token), accountId, keyId, now, expiresAt: now + limits.sessionTtlMs },
    )
    db.run(
      `delete from sessions where token_hash in (
         select token_hash from sessions where account_id = $accountId
         order by last_used_at > $now, last_used_at desc, rowid desc limit -1 offset $kept)`,
      { accountId, now, kept: limits.sessionsMax },
    )
  })
  return token
}

/**
 * Finds the session of a token. Returns null if the token is unknown or expired, or if the API key of the session was
 * revoked. Extends the session, unless its last stored use is within `sessionUseEveryMs` of now.
 */
export function useSession(db: Db, token: string): Session | null {
  const tokenHash = sha256(token)
  const session = db.find<Session>(
    `select ${columns} from sessions where token_hash = $tokenHash and expires_at > $now
     and (key_id is null or key_id in (select id from keys where revoked_at is null))`,
    { tokenHash, now: db.now() },
  )
  if (!session) return null
  if (Math.abs(db.now() - session.lastUsedAt) < limits.sessionUseEveryMs) return session
  return renew(db, tokenHash) ?? session
}

/**
 * Extends a session to `sessionTtlMs` from now. Returns null if the database is busy or its disk is full or faulty. The
 * session then keeps its expiry time.
 */
function renew(db: Db, tokenHash: string): Session | null {
  const now = db.now()
  const statement = `update sessions set last_used_at = $now, expires_at = $expiresAt
    where token_hash = $tokenHash returning ${columns}`
  const params = { tokenHash, now, expiresAt: now + limits.sessionTtlMs }
  return unlessRefused(() => db.tx(() => db.find<Session>(statement, params)))
}

export function endSession(db: Db, token: string): void {
  db.run('delete from sessions where token_hash = $tokenHash', { tokenHash: sha256(token) })
}

/** Ends all sign-in sessions of an account. */
export function endSessions(db: Db, accountId: string): void {
  db.run('delete from sessions where account_id = $accountId', { accountId })
}

/** Deletes at most `purgedRowsMax` expired sessions. Returns true if more of them may be left. */
export function purgeSessions(db: Db): boolean {
  const params = { now: db.now() }
  return purgeRows(db, { table: 'sessions', key: 'token_hash', where: 'expires_at <= $now', params })
}
