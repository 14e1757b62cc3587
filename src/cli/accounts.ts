import { createAccount, listAccounts } from '../accounts/account.ts'
import { normalEmail } from '../accounts/email.ts'
import { deposit } from '../accounts/ledger.ts'
import { hashPassword, isNewPassword } from '../accounts/password.ts'
import { centsOf } from '../accounts/price.ts'
import { formatCount, formatSize } from '../base/units.ts'
import { countBelongings, eraseAccount } from '../jobs/erase.ts'
import { limits } from '../limits.ts'
import { dollars, lineOf, mustFind, recordOf } from './account-record.ts'
import { need, refuseEmpty } from './arguments.ts'
import { command } from './command.ts'
import { creditOf } from './credit.ts'
import { withData } from './data.ts'
import { UsageError } from './failure.ts'
import { print } from './print.ts'
import { dataConfig, recordOptions } from './settings.ts'

export const create = command({
  usage: 'steno accounts create EMAIL [--password P] [--credit 10.00] [--json]',
  summary: 'Create a verified account.',
  options: { ...recordOptions, password: { type: 'string' }, credit: { type: 'string' } },
  help: { password: 'for signing in; none by default', credit: 'dollars to start with; 0 by default' },
  async run(positionals, values) {
    const [given] = need(positionals, 'EMAIL')
    refuseEmpty(values, 'credit')
    const email = normalEmail(given)
    if (!email) throw new UsageError(`${given} is not an e-mail address`)
    const cents = creditOf(values.credit ?? '0')
    const passwordHash =
      values.password === undefined ? null : await hashPassword(checkPassword(values.password))
    const account = withData(values, db =>
      db.tx(() => {
        const made = createAccount(db, { email, passwordHash, verified: true })
        if (!made) throw new Error(`there is already an account ${email}`)
        if (cents > 0) deposit(db, made.id, cents)
        return mustFind(db, email)
      }),
    )
    const record = { account_id: account.id, email, balance_cents: centsOf(account.balanceUnits) }
    print(values, record, () => `${account.id}  ${email}  ${dollars(account.balanceUnits)}`)
  },
})

export const list = command({
  usage: 'steno accounts list [--json]',
  summary: 'List all accounts.',
  options: recordOptions,
  async run(positionals, values) {
    need(positionals)
    const accounts = withData(values, listAccounts)
    print(values, accounts.map(recordOf), () => accounts.map(lineOf))
  },
})

export const show = command({
  usage: 'steno accounts show EMAIL [--json]',
  summary: 'Show one account.',
  options: recordOptions,
  async run(positionals, values) {
    const [email] = need(positionals, 'EMAIL')
    const account = withData(values, db => mustFind(db, email))
    print(values, recordOf(account), () =>
      Object.entries(recordOf(account)).map(([name, value]) => `${name}: ${value}`),
    )
  },
})

const remove = command({
  usage: 'steno accounts delete EMAIL --yes [--json]',
  summary: 'Erase an account with its keys, jobs, transcripts and media. Its ledger stays, without a name.',
  options: { ...recordOptions, yes: { type: 'boolean' } },
  help: { yes: 'erase it; without this, only say what would be erased' },
  async run(positionals, values) {
    const [email] = need(positionals, 'EMAIL')
    const { dataDir } = dataConfig(values)
    const { account, jobs, mediaBytes } = withData(values, db => {
      const account = mustFind(db, email)
      const belongings = countBelongings(db, account.id)
      if (values.yes) {
        eraseAccount(db, dataDir, account)
        db.checkpoint(limits.databaseBusyMs)
      }
      return { account, ...belongings }
    })
    const belongings = `${formatCount(jobs, 'job')}, ${formatSize(mediaBytes)} of media, a balance of ${dollars(account.balanceUnits)}`
    if (!values.yes) throw new Error(`${email} has ${belongings}; add --yes to erase all of it`)
    const record = {
      account_id: account.id,
      jobs,
      media_bytes: mediaBytes,
      balance_cents: centsOf(account.balanceUnits),
      erased: true,
    }
    print(values, record, () => `${email} erased: ${belongings}`)
  },
})

export { remove as delete }

function checkPassword(password: string): string {
  const { passwordLengthMin: min, passwordLengthMax: max } = limits
  if (!isNewPassword(password)) throw new Error(`a password has ${min} to ${max} characters`)
  return password
}
