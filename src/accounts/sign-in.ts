// Checks the credentials of a sign-in. Neither the result nor the duration of a failed sign-in reveals whether an
// account exists.

import type { Db } from '../db/db.ts'
import { normalEmail } from './email.ts'
import { findKey } from './key.ts'
import { isPassword } from './password.ts'

export type SignedIn = { accountId: string; keyId: string | null }

/** Returns the account of an API key. Returns null when the key is unknown or revoked. */
export function signInWithKey(db: Db, text: string): SignedIn | null {
  const key = findKey(db, text.trim())
  return key && key.revokedAt === null ? { accountId: key.accountId, keyId: key.id } : null
}

/**
 * Returns the account of an email address and a password. Returns null if the password is wrong, or if no verified
 * account with this address has a password. The duration is the same in each case, because the given password is always
 * hashed.
 */
export async function signInWithPassword(
  db: Db,
  { email, password }: { email: string; password: string },
): Promise<SignedIn | null> {
  const account = db.find<{ id: string; passwordHash: string }>(
    `select id, password_hash as passwordHash from accounts
     where email = $email and verified_at is not null and password_hash is not null`,
    { email: normalEmail(email) ?? '' },
  )
  const isRight = await isPassword(password, account?.passwordHash ?? null)
  return account && isRight ? { accountId: account.id, keyId: null } : null
}
