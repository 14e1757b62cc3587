// Creates an account at the first start of the server. Later starts suggest how to create another API key.

import { createAccount, listAccounts } from '../accounts/account.ts'
import { createKey } from '../accounts/key.ts'
import { deposit } from '../accounts/ledger.ts'
import { setOperator } from '../accounts/settings.ts'
import { isCompiled } from '../base/carried.ts'
import { reasonOf } from '../base/reason.ts'
import { shellWord } from '../base/shell-word.ts'
import { settings } from '../config/settings.ts'
import { limits } from '../limits.ts'
import type { Running } from '../service.ts'

/**
 * Creates an account at the first start of the server, and calls `show` with its API key. If `show` throws, the account
 * is not created, because its key cannot be shown again. Returns false if the database already has an account.
 */
export function createFirstAccount(
  { service: { db, secrets } }: Pick<Running, 'service'>,
  show: (key: string) => void,
): boolean {
  return db.tx(() => {
    if (listAccounts(db).length > 0) return false
    const account = createAccount(db, { email: 'local@localhost', passwordHash: null, verified: true })
    const made = account && createKey(db, secrets, account.id, { name: 'first start' })
    if (!made) return false
    deposit(db, account.id, limits.firstCreditCents)
    setOperator(db, account.id, true)
    try {
      show(made.key)
    } catch (error) {
      const reason = reasonOf(error)
      throw new Error(
        `the first API key cannot be shown, so it is not made: ${reason}; the next start tries again`,
      )
    }
    return true
  })
}

/**
 * Returns a hint for the operator: the command that creates another API key. An existing key cannot be shown, because
 * only its hash is stored.
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
 * Returns the flag --data-dir for commands that the server suggests to its operator. Returns an empty text if they find
 * the data folder without the flag.
 */
function folderFlag(dataDir: string): string {
  const found = settings.dataDir.parse(process.env.STENO_DATA_DIR || settings.dataDir.default)
  return found === dataDir ? '' : ` --data-dir ${shellWord(dataDir)}`
}
