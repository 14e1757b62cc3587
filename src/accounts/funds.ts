// Whether an account may start something that costs money.

import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { findMoney } from './ledger.ts'

/** An empty balance is ZERO_BALANCE. Where nothing is charged, nobody needs money. */
export function requireBalance(db: Db, accountId: string, pricePerHourCents: number): void {
  if (pricePerHourCents > 0 && findMoney(db, accountId).balanceUnits === 0) throw new ApiError('ZERO_BALANCE')
}

/** As requireBalance, and some of it must not be held for other jobs. */
export function requireAvailable(db: Db, accountId: string, pricePerHourCents: number): void {
  requireBalance(db, accountId, pricePerHourCents)
  if (pricePerHourCents > 0 && findMoney(db, accountId).availableUnits <= 0) {
    throw new ApiError('INSUFFICIENT_BALANCE')
  }
}
