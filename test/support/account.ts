// Creates an account with a key and a balance directly in the database, without a request.

import { createAccount } from '../../src/accounts/account.ts'
import { createKey } from '../../src/accounts/key.ts'
import { deposit } from '../../src/accounts/ledger.ts'
import type { Secrets } from '../../src/base/seal.ts'
import type { Db } from '../../src/db/db.ts'

export type TestAccount = { accountId: string; key: string; keyId: string }

export function makeAccount(db: Db, secrets: Secrets, email: string, creditCents: number): TestAccount {
  const account = createAccount(db, { email, passwordHash: null, verified: true })
  if (!account) throw new Error(`there is an account of ${email} already`)
  if (creditCents > 0) deposit(db, account.id, creditCents)
  const made = createKey(db, secrets, account.id, { name: null })
  if (!made) throw new Error('the account has all its keys')
  return { accountId: account.id, key: made.key, keyId: made.id }
}
