// The secrets that sign webhooks, one for each API key. The database stores them encrypted with the file secret.key of
// the data folder.

import { existsSync } from 'node:fs'
import { sha256 } from '../base/hash.ts'
import { openSecrets, type Secrets, secretPath } from '../base/seal.ts'
import type { Db } from '../db/db.ts'

/** Returns the signing secret of an API key, even of a revoked key. Throws if there is no such key. */
export function findSigningSecret(db: Db, secrets: Secrets, keyId: string): string {
  const row = db.find<{ sealed: string }>('select sealed_secret as sealed from keys where id = $keyId', {
    keyId,
  })
  if (!row) throw new Error(`no key ${keyId}`)
  return secrets.open(row.sealed)
}

/**
 * Opens the file secret.key of the data folder. Creates the file if it is missing. Throws instead if the database has
 * texts that only the missing file could decrypt.
 */
export function openSecretsOf(db: Pick<Db, 'find'>, dataDir: string): Secrets {
  requireSecret(db, dataDir)
  return openSecrets(dataDir)
}

/** Throws if the file secret.key is missing and the database has texts that only this file decrypts. */
export function requireSecret(db: Pick<Db, 'find'>, dataDir: string): void {
  const path = secretPath(dataDir)
  if (!existsSync(path) && hasSealedTexts(db)) throw missingSecret(path)
}

export function missingSecret(path: string): Error {
  return new Error(
    `${path} is missing, and nothing else opens the signing secrets in steno.db: copy FILE.key of any backup of this service to this path; if there is none, docs/admin.md says how to go on without it`,
  )
}

/** Returns true if the database has a text that is encrypted with the file secret.key. */
function hasSealedTexts(db: Pick<Db, 'find'>): boolean {
  const row = db.find(
    `select 1 from keys union all select 1 from voices
     union all select 1 from webhook_events where sealed_body is not null limit 1`,
  )
  return row !== null
}

/**
 * Returns true if the file secret.key belongs to this database: it decrypts the signing secret of the newest API key,
 * or the database has no API key.
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
 * Derives the signing secret from the text of an API key. A receiver of webhooks derives the secret in the same way.
 */
export function signingSecretOf(key: string): string {
  return sha256(key)
}
