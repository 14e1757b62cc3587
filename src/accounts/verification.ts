// Verifies the email addresses of accounts. After a sign-up, the address gets a mail with a link. The link works once,
// and expires after `verificationTtlMs`.
//
// The database stores each link with the password hash of its sign-up, so that the person does not type the password
// again. Anyone can sign up with the address of another person. So a link loses its password when a later sign-up has
// another password: the person who opens the link cannot know which of the two sign-ups it belongs to. This person then
// chooses the password. While such a link is valid, links of still later sign-ups have no password either.

import { sha256 } from '../base/hash.ts'
import { newToken } from '../base/id.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { createAccount, findAccountByEmail, verifyAccount } from './account.ts'

/** The password hash of a link that has lost its password. */
const noPassword = ''

type SignUp = {
  email: string
  passwordHash: string
  /** The result of `findPendingPassword` if it is a hash of the same password, otherwise null. */
  pendingHash: string | null
}

/**
 * Creates an unverified account, and returns the token for the link in its verification mail. If an unverified account
 * with this address exists, returns another token for this account. Returns null if no mail may be sent: the account is
 * already verified, or its last mail was sent less than `verificationMailEveryMs` ago.
 */
export function createVerification(db: Db, { email, passwordHash, pendingHash }: SignUp): string | null {
  const token = newToken()
  return db.tx(() => {
    const account =
      findAccountByEmail(db, email) ?? createAccount(db, { email, passwordHash: null, verified: false })
    if (!account || account.verifiedAt !== null) return null
    const hashes = validHashes(db, email)
    const isRepeated = hashes[0] === pendingHash
    if (!isRepeated) {
      const removal = 'update verifications set password_hash = $noPassword where account_id = $accountId'
      db.run(removal, { noPassword, accountId: account.id })
    }
    if (hadMail(db, account.id)) return null
    db.run(
      `insert into verifications (token_hash, account_id, password_hash, expires_at)
       values ($tokenHash, $accountId, $passwordHash, $expiresAt)`,
      {
        tokenHash: sha256(token),
        accountId: account.id,
        passwordHash: hashes.includes(noPassword) ? noPassword : passwordHash,
        expiresAt: db.now() + limits.verificationTtlMs,
      },
    )
    return token
  })
}

/**
 * Returns the password hash of the last mailed link to an unverified account. Returns null if there is no valid link,
 * or if the link has lost its password.
 */
export function findPendingPassword(db: Db, email: string): string | null {
  return validHashes(db, email)[0] || null
}

/** Returns the password hashes of all valid links to an unverified account, the newest link first. */
function validHashes(db: Db, email: string): string[] {
  return db
    .list<{ passwordHash: string }>(
      `select password_hash as passwordHash from verifications
       where account_id = (select id from accounts where email = $email and verified_at is null)
       and used_at is null and expires_at > $now order by expires_at desc`,
      { email, now: db.now() },
    )
    .map(({ passwordHash }) => passwordHash)
}

/**
 * Returns true if a verification mail was sent to the account within the last `verificationMailEveryMs`. Without this
 * limit, anyone could send many mails to the email address of another person. A link does not count if it expires later
 * than a link that is mailed now. Such a link was mailed while the clock was ahead.
 */
function hadMail(db: Db, accountId: string): boolean {
  const latest = db.now() + limits.verificationTtlMs
  const recent = `select 1 from verifications
    where account_id = $accountId and expires_at > $expiresAfter and expires_at <= $latest`
  return (
    db.find(recent, { accountId, expiresAfter: latest - limits.verificationMailEveryMs, latest }) !== null
  )
}

/**
 * Verifies the account to which a mailed link belongs. `token` is the secret part of the link. `chosenHash` is the hash
 * of the password that the person chose on the page of the link; without it, the account gets the password of the
 * sign-up. The result is `invalid` if the link is unknown, used or expired, or if the account is already verified. It
 * is `password-missing` if the link has lost its password and the person has chosen none; the link then stays valid.
 */
export function useVerification(
  db: Db,
  token: string,
  chosenHash: string | null = null,
): 'verified' | 'password-missing' | 'invalid' {
  return db.tx(() => {
    const tokenHash = sha256(token)
    const link = db.find<{ accountId: string; passwordHash: string }>(
      `select account_id as accountId, password_hash as passwordHash from verifications
       where token_hash = $tokenHash and used_at is null and expires_at > $now
       and account_id in (select id from accounts where verified_at is null)`,
      { tokenHash, now: db.now() },
    )
    if (!link) return 'invalid'
    const passwordHash = chosenHash ?? link.passwordHash
    if (passwordHash === noPassword) return 'password-missing'
    db.run('update verifications set used_at = $now where token_hash = $tokenHash', {
      tokenHash,
      now: db.now(),
    })
    verifyAccount(db, link.accountId, passwordHash)
    return 'verified'
  })
}

/**
 * Deletes expired verification links. Then deletes unverified accounts that have neither a valid link nor a ledger
 * entry. An erased account counts as unverified.
 */
export function purgeVerifications(db: Db): void {
  db.tx(() => {
    db.run('delete from verifications where expires_at <= $now', { now: db.now() })
    db.run(
      `delete from accounts where verified_at is null
       and not exists (select 1 from verifications where account_id = accounts.id)
       and not exists (select 1 from ledger where account_id = accounts.id)`,
    )
  })
}
