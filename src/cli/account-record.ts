// Finds an account by its email address. Formats an account for the output of a command, as an object or as one line.

import { type Account, findAccountByEmail } from '../accounts/account.ts'
import { normalEmail } from '../accounts/email.ts'
import { centsOf } from '../accounts/price.ts'
import { withoutPassword } from '../base/visible.ts'
import type { Db } from '../db/db.ts'

export function mustFind(db: Db, email: string): Account {
  const account = findAccountByEmail(db, normalEmail(email) ?? '')
  if (!account) throw new Error(`there is no account ${email}`)
  return account
}

export function recordOf(account: Account) {
  return {
    account_id: account.id,
    email: account.email,
    verified: account.verifiedAt !== null,
    operator: account.operator === 1,
    balance_cents: centsOf(account.balanceUnits),
    reserved_cents: centsOf(account.reservedUnits),
    webhook_url: account.webhookUrl === null ? null : withoutPassword(account.webhookUrl),
    created_at: new Date(account.createdAt).toISOString(),
    partly_erased: account.deletedAt !== null,
  }
}

export function lineOf(account: Account): string {
  const state = account.verifiedAt === null ? 'unverified' : 'verified'
  const mark = account.operator === 1 ? '  operator' : ''
  // An account with `deletedAt` is listed only if the command that erases the account was killed before its end.
  const erasure = account.deletedAt === null ? '' : '  partly erased: run steno accounts delete again'
  return `${account.id}  ${account.email}  ${state}  ${dollars(account.balanceUnits)}${mark}${erasure}`
}

export function dollars(units: number): string {
  return `$${(centsOf(units) / 100).toFixed(2)}`
}
