// Checks that an account can pay.

import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { findMoney } from './ledger.ts'

/** Throws ZERO_BALANCE when the balance is empty. At price 0 no balance is needed. */
export function requireBalance(db: Db, accountId: string, pricePerHourCents: number): void {
  if (pricePerHourCents > 0 && findMoney(db, accountId).balanceUnits === 0) throw new ApiError('ZERO_BALANCE')
}

/** Like requireBalance, but also throws when the whole balance is reserved for other jobs. */
export function requireAvailable(db: Db, accountId: string, pricePerHourCents: number): void {
  requireBalance(db, accountId, pricePerHourCents)
  if (pricePerHourCents > 0 && findMoney(db, accountId).availableUnits <= 0) {
    throw new ApiError('INSUFFICIENT_BALANCE')
  }
}
