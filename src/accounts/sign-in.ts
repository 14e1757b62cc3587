// Checks the credentials of a sign-in. Neither the result nor the duration of a failed sign-in reveals whether an
// account exists.

import type { Db } from '../db/db.ts'
import { normalEmail } from './email.ts'
import { findKey } from './key.ts'
import { type Asker, isPassword } from './password.ts'
import { createSession } from './session.ts'

/** `passwordHash` is the stored hash of the given password, or null after a sign-in with an API key. */
export type SignedIn = { accountId: string; keyId: string | null; passwordHash: string | null }

/** Returns the account of an API key. Returns null when the key is unknown or revoked. */
export function signInWithKey(db: Db, text: string): SignedIn | null {
  const key = findKey(db, text.trim())
  return key && key.revokedAt === null
    ? { accountId: key.accountId, keyId: key.id, passwordHash: null }
    : null
}

/**
 * Returns the account of an email address and a password. Returns null if the password is wrong, or if no verified
 * account with a password has this address. Both cases take the same time, because the given password is always hashed.
 */
export async function signInWithPassword(
  db: Db,
  { email, password }: { email: string; password: string },
  asker: Asker,
): Promise<SignedIn | null> {
  const account = db.find<{ id: string; passwordHash: string }>(
    `select id, password_hash as passwordHash from accounts
     where email = $email and verified_at is not null and password_hash is not null`,
    { email: normalEmail(email) ?? '' },
  )
  const isRight = await isPassword(password, account?.passwordHash ?? null, asker)
  return account && isRight
    ? { accountId: account.id, keyId: null, passwordHash: account.passwordHash }
    : null
}

/**
 * Creates a session and returns its token. Returns null if the password was changed or the account was deleted during
 * the password check, which may take 0.25 s or more.
 */
export function startSession(db: Db, { accountId, keyId, passwordHash }: SignedIn): string | null {
  const stillHeld = 'select 1 from accounts where id = $accountId and password_hash = $passwordHash'
  return db.tx(() => {
    if (passwordHash !== null && !db.find(stillHeld, { accountId, passwordHash })) return null
    return createSession(db, { accountId, keyId })
  })
}
