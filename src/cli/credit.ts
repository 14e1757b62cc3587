import { deposit } from '../accounts/ledger.ts'
import { parseDollars } from '../accounts/price.ts'
import { limits } from '../limits.ts'
import { dollars, mustFind, recordOf } from './account-record.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { withData } from './data.ts'
import { UsageError } from './failure.ts'
import { print } from './print.ts'
import { recordOptions } from './settings.ts'

export const credit = command({
  usage: 'steno accounts credit EMAIL 5.00 [--json]',
  summary: `Add funds: at least ${limits.depositCentsMin / 100} dollars.`,
  options: recordOptions,
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

/**
 * Returns the first credit of a new account in cents. `text` is in dollars: zero, or an amount that is allowed for a
 * deposit.
 */
export function creditOf(text: string): number {
  return parseDollars(text) === 0 ? 0 : amountOf(text)
}

function amountOf(text: string): number {
  const cents = parseDollars(text)
  if (cents === null) throw new UsageError(`${text} is not an amount of dollars`)
  if (cents < limits.depositCentsMin)
    throw new Error(`a deposit is at least ${limits.depositCentsMin / 100}.00 dollars`)
  return cents
}
