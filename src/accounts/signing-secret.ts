// The secrets that sign webhooks. Each API key has a signing secret. The database stores each signing secret in
// encrypted form. The encryption uses the file secret.key of the data folder.

import { sha256 } from '../base/hash.ts'
import type { Secrets } from '../base/seal.ts'
import type { Db } from '../db/db.ts'

/**
 * Returns the secret that signs the webhooks of the jobs that were submitted with this API key. The secret also exists
 * for a revoked key.
 */
export function findSigningSecret(db: Db, secrets: Secrets, keyId: string): string {
  const row = db.find<{ sealed: string }>('select sealed_secret as sealed from keys where id = $keyId', {
    keyId,
  })
  if (!row) throw new Error(`no key ${keyId}`)
  return secrets.open(row.sealed)
}

/**
 * Returns true if `secrets` can decrypt the signing secret of the newest key in the database, or if there is no key.
 * Returns false if the signing secret was encrypted with another secret.key.
 */
export function canOpenSecrets(db: Pick<Db, 'find'>, secrets: Secrets): boolean {
  const row = db.find<{ sealed: string }>('select sealed_secret as sealed from keys order by id desc limit 1')
  try {
    if (row) secrets.open(row.sealed)
    return true
  } catch {
    return false
  }
}

/**
 * Derives the signing secret from the text of an API key. The receiver of a webhook derives the secret in the same way.
 */
export function signingSecretOf(key: string): string {
  return sha256(key)
}
