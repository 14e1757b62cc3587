// Verifies the email addresses of accounts. A new account gets a mail with a link. The link works once, and expires
// after `verificationTtlMs`.

import { sha256 } from '../base/hash.ts'
import { newToken } from '../base/id.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { createAccount, findAccountByEmail, verifyAccount } from './account.ts'

/**
 * Creates an unverified account, and returns the token for the link in its verification mail. If an unverified account
 * with this address exists, only creates and returns another token. Returns null if no mail may be sent: the account is
 * already verified, or its last mail was sent less than `verificationMailEveryMs` ago.
 */
export function createVerification(
  db: Db,
  { email, passwordHash }: { email: string; passwordHash: string },
): string | null {
  const token = newToken()
  return db.tx(() => {
    const account =
      findAccountByEmail(db, email) ?? createAccount(db, { email, passwordHash: null, verified: false })
    if (!account || account.verifiedAt !== null || hadMail(db, account.id)) return null
    db.run(
      `insert into verifications (token_hash, account_id, password_hash, expires_at)
       values ($tokenHash, $accountId, $passwordHash, $expiresAt)`,
      {
        tokenHash: sha256(token),
        accountId: account.id,
        passwordHash,
        expiresAt: db.now() + limits.verificationTtlMs,
      },
    )
    return token
  })
}

/**
 * Returns true if a verification mail was sent to the account within the last `verificationMailEveryMs`. Without this
 * limit, anyone could send many mails to the email address of another person.
 */
function hadMail(db: Db, accountId: string): boolean {
  const expiresAfter = db.now() + limits.verificationTtlMs - limits.verificationMailEveryMs
  const recent = 'select 1 from verifications where account_id = $accountId and expires_at > $expiresAfter'
  return db.find(recent, { accountId, expiresAfter }) !== null
}

/**
 * Verifies the account to which a mailed link belongs. `token` is the secret part of the link. Returns false if the
 * link is unknown, used or expired, or if the account is already verified.
 */
export function useVerification(db: Db, token: string): boolean {
  return db.tx(() => {
    const row = db.find<{ accountId: string; passwordHash: string }>(
      `update verifications set used_at = $now
       where token_hash = $tokenHash and used_at is null and expires_at > $now
       and account_id in (select id from accounts where verified_at is null)
       returning account_id as accountId, password_hash as passwordHash`,
      { tokenHash: sha256(token), now: db.now() },
    )
    if (!row) return false
    verifyAccount(db, row.accountId, row.passwordHash)
    return true
  })
}

/**
 * Deletes expired verification links. Then deletes unverified accounts that are older than `verificationTtlMs` and have
 * neither a valid link nor a ledger entry. An erased account counts as unverified.
 */
export function purgeVerifications(db: Db): void {
  db.tx(() => {
    const now = db.now()
    db.run('delete from verifications where expires_at <= $now', { now })
    db.run(
      `delete from accounts where verified_at is null and created_at <= $before
       and not exists (select 1 from verifications where account_id = accounts.id)
       and not exists (select 1 from ledger where account_id = accounts.id)`,
      { before: now - limits.verificationTtlMs },
    )
  })
}
