// Creates an account at the first start of the server. At later starts, suggests how to create another API key.

import { createAccount, listAccounts } from '../accounts/account.ts'
import { createKey } from '../accounts/key.ts'
import { deposit } from '../accounts/ledger.ts'
import { setOperator } from '../accounts/settings.ts'
import { isCompiled } from '../base/carried.ts'
import { shellWord } from '../base/shell-word.ts'
import { settings } from '../config/settings.ts'
import { limits } from '../limits.ts'
import type { Running } from '../service.ts'

/**
 * Creates an account at the first start of the server, and returns the API key of this account. Returns null if the
 * database already has an account.
 */
export function createFirstAccount({ service: { db, secrets } }: Running): string | null {
  return db.tx(() => {
    if (listAccounts(db).length > 0) return null
    const account = createAccount(db, { email: 'local@localhost', passwordHash: null, verified: true })
    if (!account) return null
    deposit(db, account.id, limits.firstCreditCents)
    setOperator(db, account.id, true)
    return createKey(db, secrets, account.id, { name: 'first start' })?.key ?? null
  })
}

/**
 * Returns a hint for the operator: the command that creates another API key. The server cannot show an existing key,
 * because it stores only the hash of each key.
 */
export function keyHint({ service: { db } }: Running, dataDir: string): string {
  const email = listAccounts(db)[0]?.email ?? 'EMAIL'
  return `another API key: ${shellWord(ownCommand())} keys create ${email}${folderFlag(dataDir)}`
}

/** Returns the text with which the operator calls this program in a shell, such as `./steno`. */
function ownCommand(): string {
  if (!isCompiled()) return './steno'
  return Bun.which('steno') === process.execPath ? 'steno' : process.execPath
}

/**
 * Returns the flag --data-dir for the commands of steno that the server suggests to its operator. Returns an empty text
 * if these commands find the same data folder without the flag.
 */
function folderFlag(dataDir: string): string {
  const found = settings.dataDir.parse(process.env.STENO_DATA_DIR || settings.dataDir.default)
  return found === dataDir ? '' : ` --data-dir ${shellWord(dataDir)}`
}
