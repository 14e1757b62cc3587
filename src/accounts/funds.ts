// Checks that an account has enough money for a job.

import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { findMoney } from './ledger.ts'

/** Throws ZERO_BALANCE if the balance of the account is zero, unless the service is free of charge. */
export function requireBalance(db: Db, accountId: string, pricePerHourCents: number): void {
  if (pricePerHourCents > 0 && findMoney(db, accountId).balanceUnits === 0) throw new ApiError('ZERO_BALANCE')
}

/**
 * Throws ZERO_BALANCE if the balance of the account is zero, and INSUFFICIENT_BALANCE if its unfinished jobs have
 * reserved the whole balance. Does not throw if the service is free of charge.
 */
export function requireAvailable(db: Db, accountId: string, pricePerHourCents: number): void {
  requireBalance(db, accountId, pricePerHourCents)
  if (pricePerHourCents > 0 && findMoney(db, accountId).availableUnits <= 0) {
    throw new ApiError('INSUFFICIENT_BALANCE')
  }
}
