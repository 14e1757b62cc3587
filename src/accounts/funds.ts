// Checks that the balance of an account allows a new job.

import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { findMoney } from './ledger.ts'

/** Throws ZERO_BALANCE when the balance of the account is zero. Never throws when the price is 0. */
export function requireBalance(db: Db, accountId: string, pricePerHourCents: number): void {
  if (pricePerHourCents > 0 && findMoney(db, accountId).balanceUnits === 0) throw new ApiError('ZERO_BALANCE')
}

/**
 * Throws ZERO_BALANCE when the balance is zero. Throws INSUFFICIENT_BALANCE when the whole balance is
 * reserved for other jobs. Never throws when the price is 0.
 */
export function requireAvailable(db: Db, accountId: string, pricePerHourCents: number): void {
  requireBalance(db, accountId, pricePerHourCents)
  if (pricePerHourCents > 0 && findMoney(db, accountId).availableUnits <= 0) {
    throw new ApiError('INSUFFICIENT_BALANCE')
  }
}
