// Verifies the email addresses of accounts by a mailed link. A link works once and expires after `verificationTtlMs`.
// The password hash of the sign-up is stored with the link, so the person who opens the link need not type the password
// again.
//
// Anyone can sign up with the email address of another person. If two sign-ups have different passwords, one of them
// may come from a stranger, and it is unknown which one. No link may then verify the account with either password:
// - A sign-up with a different password removes the password from all earlier links to this address.
// - While a link without a password is valid, each new link has no password either.
// - The person who opens a link without a password chooses a new password. Only the owner of the address gets the link.

import { sha256 } from '../base/hash.ts'
import { newToken } from '../base/id.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { createAccount, findAccountByEmail, verifyAccount } from './account.ts'
import { purgeRows } from './purge-rows.ts'

/**
 * Stored with a verification link in place of the password hash of the sign-up, if sign-ups with this email address had
 * different passwords. The person who opens this link must choose a new password.
 */
const noPassword = ''

type SignUp = {
  email: string
  passwordHash: string
  /**
   * The password hash of an earlier sign-up with this address, as `findPendingPassword` returned it. Null if there is
   * none, or if the present sign-up has another password. `createVerification` compares it with the hash of the newest
   * valid link. If the two differ, a stranger may have made one of the sign-ups. So all links to this address then lose
   * their passwords.
   */
  pendingHash: string | null
}

/**
 * Returns the token for the link in a verification mail. Creates an unverified account if there is none with this
 * address. Returns null if the account is already verified, or if its last mail was sent within
 * `verificationMailEveryMs`.
 */
export function createVerification(db: Db, { email, passwordHash, pendingHash }: SignUp): string | null {
  const token = newToken()
  return db.tx(() => {
    const account =
      findAccountByEmail(db, email) ?? createAccount(db, { email, passwordHash: null, verified: false })
    if (!account || account.verifiedAt !== null) return null
    const isRepeated = validHashes(db, email)[0] === pendingHash
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
        passwordHash: validHashes(db, email).includes(noPassword) ? noPassword : passwordHash,
        expiresAt: db.now() + limits.verificationTtlMs,
      },
    )
    return token
  })
}

/**
 * Returns the password hash of the sign-up that created the newest valid verification link for this address. Returns
 * null if there is no such link, if the account is already verified, or if the link is stored without a password.
 */
export function findPendingPassword(db: Db, email: string): string | null {
  return validHashes(db, email)[0] || null
}

/**
 * Returns the password hash of each valid verification link that was mailed to this address, or `noPassword` for a link
 * without one. The newest link comes first. If the account is verified, the result is empty.
 */
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
 * Returns true if the account got a verification mail within the last `verificationMailEveryMs`. It must then get no
 * further mail: anyone can sign up with the address of another person, and could otherwise send many mails to it.
 */
function hadMail(db: Db, accountId: string): boolean {
  // All links have the same lifetime, so the expiry of a link shows when it was mailed. If a stored link expires later
  // than a link that is mailed now, the clock was ahead when the stored link was mailed. The true time of this mail is
  // unknown, so this mail does not prevent a new one.
  const latest = db.now() + limits.verificationTtlMs
  const recent = `select 1 from verifications
    where account_id = $accountId and expires_at > $expiresAfter and expires_at <= $latest`
  return (
    db.find(recent, { accountId, expiresAfter: latest - limits.verificationMailEveryMs, latest }) !== null
  )
}

/**
 * Verifies the account of a mailed link. `token` is the secret part of the link. `chosenHash` is the hash of a password
 * that the person chooses now, or null. Returns `invalid` if the link is unknown, used or expired, or if the account is
 * already verified. Returns `password-missing` if `chosenHash` is null and no password hash is stored with the link.
 * The link can then be used again.
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
 * Deletes expired verification links. Then deletes unverified accounts that have neither a link nor an entry in the
 * ledger (the record of all payments and charges). A ledger entry needs the row of its account. The row of an erased
 * account has no personal data, and counts as unverified. Deletes at most `purgedRowsMax` links and as many accounts,
 * and returns true if more of them may be left.
 */
export function purgeVerifications(db: Db): boolean {
  return db.tx(() => {
    const hasMoreLinks = purgeRows(db, {
      table: 'verifications',
      key: 'token_hash',
      where: 'expires_at <= $now',
      params: { now: db.now() },
    })
    const hasMoreAccounts = purgeRows(db, {
      table: 'accounts',
      key: 'id',
      where: `verified_at is null
        and not exists (select 1 from verifications where account_id = accounts.id)
        and not exists (select 1 from ledger where account_id = accounts.id)`,
    })
    return hasMoreLinks || hasMoreAccounts
  })
}
