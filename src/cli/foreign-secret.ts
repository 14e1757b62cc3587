import { canOpenSecrets } from '../accounts/signing-secret.ts'
import { readSecrets } from '../base/seal.ts'
import type { Db } from '../db/db.ts'

/**
 * Returns a message if the secret in the file `path` cannot decrypt the signing secret of the newest API key in the
 * database. Otherwise returns null.
 */
export function whyForeign(db: Pick<Db, 'find'>, path: string): string | null {
  if (canOpenSecrets(db, readSecrets(path))) return null
  return `${path} is of another service and cannot open the signing secrets in the database; every earlier backup of this service has the right one; if there is none, docs/admin.md says how to go on without it`
}
