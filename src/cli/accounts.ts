import {
  type Account,
  createAccount,
  findAccountByEmail,
  listAccounts,
  setDefaultWebhook,
} from '../accounts/account.ts'
import { normalEmail } from '../accounts/email.ts'
import { deposit } from '../accounts/ledger.ts'
import { hashPassword } from '../accounts/password.ts'
import { centsOf, parseDollars } from '../accounts/price.ts'
import { endSessions } from '../accounts/session.ts'
import { setOperator, setPassword } from '../accounts/settings.ts'
import { newToken } from '../base/id.ts'
import { formatSize } from '../base/units.ts'
import type { Db } from '../db/db.ts'
import { countBelongings, eraseAccount } from '../jobs/erase.ts'
import { limits } from '../limits.ts'
import { checkWebhookUrl } from '../webhooks/address.ts'
import { command, jsonOption, need, print, UsageError } from './command.ts'
import { withData } from './data.ts'
import { dataConfig, dataOption } from './settings.ts'

const json = { ...jsonOption, ...dataOption } as const

export const create = command({
  usage: 'steno accounts create EMAIL [--password P] [--credit 10.00] [--json]',
  summary: 'Create a verified account.',
  options: { ...json, password: { type: 'string' }, credit: { type: 'string' } },
  help: { password: 'for signing in; none by default', credit: 'dollars to start with; 0 by default' },
  async run(positionals, values) {
    const [given] = need(positionals, 'EMAIL')
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
  options: json,
  async run(positionals, values) {
    need(positionals)
    const accounts = withData(values, listAccounts)
    print(values, accounts.map(recordOf), () => accounts.map(lineOf))
  },
})

export const show = command({
  usage: 'steno accounts show EMAIL [--json]',
  summary: 'Show one account.',
  options: json,
  async run(positionals, values) {
    const [email] = need(positionals, 'EMAIL')
    const account = withData(values, db => mustFind(db, email))
    print(values, recordOf(account), () =>
      Object.entries(recordOf(account)).map(([name, value]) => `${name}: ${value}`),
    )
  },
})

export const webhook = command({
  usage: 'steno accounts webhook EMAIL URL|none [--json]',
  summary: 'Set the webhook of jobs that have no webhook_url of their own.',
  options: json,
  async run(positionals, values) {
    const [email, url] = need(positionals, 'EMAIL', 'URL or none')
    const webhookUrl = url === 'none' ? null : url
    const { allowNets } = dataConfig(values)
    const refused = webhookUrl === null ? null : await checkWebhookUrl(webhookUrl, { allowNets })
    if (refused !== null) throw new Error(refused)
    const account = withData(values, db => {
      setDefaultWebhook(db, mustFind(db, email).id, webhookUrl)
      return mustFind(db, email)
    })
    print(values, recordOf(account), () => `${account.email}: ${webhookUrl ?? 'no default webhook'}`)
  },
})

export const operator = command({
  usage: 'steno accounts operator EMAIL on|off',
  summary: 'Let an account see the state of the whole service in the web app.',
  options: dataOption,
  async run(positionals, values) {
    const [email, mark] = need(positionals, 'EMAIL', 'on or off')
    if (mark !== 'on' && mark !== 'off') throw new UsageError(`${mark} is neither on nor off`)
    const isOperator = mark === 'on'
    withData(values, db => setOperator(db, mustFind(db, email).id, isOperator))
    print({}, null, () => `${email} is ${isOperator ? 'an operator' : 'no operator'}`)
  },
})

export const password = command({
  usage: 'steno accounts password EMAIL [--json]',
  summary: 'Set a new password, and print it. All sessions of the account end.',
  options: json,
  async run(positionals, values) {
    const [email] = need(positionals, 'EMAIL')
    const made = newToken().slice(0, madePasswordLength)
    const passwordHash = await hashPassword(made)
    withData(values, db =>
      db.tx(() => {
        const { id } = mustFind(db, email)
        setPassword(db, id, passwordHash)
        endSessions(db, id)
      }),
    )
    print(values, { email, password: made }, () => made)
  },
})

/**
 * The number of characters in a generated password. Each character has 6 random bits, so a password of 20 characters
 * has 120 random bits.
 */
const madePasswordLength = 20

export const credit = command({
  usage: 'steno accounts credit EMAIL 5.00 [--json]',
  summary: `Add funds: at least ${limits.depositCentsMin / 100} dollars.`,
  options: json,
  async run(positionals, values) {
    const [email, amount] = need(positionals, 'EMAIL', 'DOLLARS')
    const cents = amountOf(amount)
    const account = withData(values, db => {
      deposit(db, mustFind(db, email).id, cents)
      return mustFind(db, email)
    })
    print(values, recordOf(account), () => `${account.email}: ${dollars(account.balanceUnits)}`)
  },
})

const remove = command({
  usage: 'steno accounts delete EMAIL --yes [--json]',
  summary: 'Erase an account with its keys, jobs, transcripts and media. Its ledger stays, without a name.',
  options: { ...json, yes: { type: 'boolean' } },
  help: { yes: 'erase it; without this, only say what would be erased' },
  async run(positionals, values) {
    const [email] = need(positionals, 'EMAIL')
    const { dataDir } = dataConfig(values)
    const record = withData(values, db => {
      const account = mustFind(db, email)
      const found = {
        account_id: account.id,
        ...countBelongings(db, account.id),
        erased: values.yes === true,
      }
      if (values.yes) {
        eraseAccount(db, dataDir, account)
        db.checkpoint()
      }
      return { ...found, balance: dollars(account.balanceUnits) }
    })
    const { jobs, mediaBytes, balance } = record
    const belongings = `${jobs} jobs, ${formatSize(mediaBytes)} of media, a balance of ${balance}`
    if (!values.yes) throw new Error(`${email} has ${belongings}; add --yes to erase all of it`)
    print(values, record, () => `${email} erased: ${belongings}`)
  },
})

export { remove as delete }

export function mustFind(db: Db, email: string): Account {
  const account = findAccountByEmail(db, normalEmail(email) ?? '')
  if (!account) throw new Error(`there is no account ${email}`)
  return account
}

/**
 * Parses the first credit of a new account, in dollars. The credit is zero, or an amount that is allowed for a deposit.
 */
function creditOf(text: string): number {
  return parseDollars(text) === 0 ? 0 : amountOf(text)
}

function amountOf(text: string): number {
  const cents = parseDollars(text)
  if (cents === null) throw new UsageError(`${text} is not an amount of dollars`)
  if (cents < limits.depositCentsMin)
    throw new Error(`a deposit is at least ${limits.depositCentsMin / 100}.00 dollars`)
  return cents
}

function checkPassword(password: string): string {
  if (password.length < limits.passwordLengthMin) {
    throw new Error(`a password has at least ${limits.passwordLengthMin} characters`)
  }
  return password
}

function recordOf(account: Account) {
  return {
    account_id: account.id,
    email: account.email,
    verified: account.verifiedAt !== null,
    balance_cents: centsOf(account.balanceUnits),
    reserved_cents: centsOf(account.reservedUnits),
    webhook_url: account.webhookUrl,
    created_at: new Date(account.createdAt).toISOString(),
  }
}

function lineOf(account: Account): string {
  const state = account.verifiedAt === null ? 'unverified' : 'verified'
  return `${account.id}  ${account.email}  ${state}  ${dollars(account.balanceUnits)}`
}

function dollars(units: number): string {
  return `$${(centsOf(units) / 100).toFixed(2)}`
}
