// The ledger of all movements of money. An entry is a deposit, the reserve of a job, the settlement of a reserve (a
// charge), or its release. SQL triggers in 001_init.sql update the balance of the account.

import { SQLiteError } from 'bun:sqlite'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { requireNotDeleted } from './account.ts'

export type Money = { balanceUnits: number; reservedUnits: number; availableUnits: number; movedAt: number }

/** The error for a ledger entry that is not allowed, such as a second settlement of one job. */
export class LedgerError extends Error {}

/**
 * Adds money to an account. Throws an ApiError if the account is deleted, and a LedgerError if its balance would be
 * above the maximum.
 */
export function deposit(db: Db, accountId: string, cents: number): void {
  const units = cents * limits.unitsPerCent
  db.tx(() => {
    requireNotDeleted(db, accountId)
    if (findMoney(db, accountId).balanceUnits + units > limits.balanceCentsMax * limits.unitsPerCent)
      throw new LedgerError(
        `an account may have at most ${(limits.balanceCentsMax / 100).toFixed(2)} dollars`,
      )
    add(db, accountId, null, 'deposit', units)
  })
}

/** Reserves the price of a job. Returns false and changes nothing if the available balance is too small. */
export function reserve(db: Db, accountId: string, jobId: string, units: number): boolean {
  return db.tx(() => {
    if (findMoney(db, accountId).availableUnits < units) return false
    add(db, accountId, jobId, 'reserve', units)
    return true
  })
}

/**
 * Settles the reserve of a job: the reserved amount becomes a charge. Throws a LedgerError if the job has no open
 * reserve of this amount.
 */
export function settle(db: Db, accountId: string, jobId: string, units: number): void {
  add(db, accountId, jobId, 'settle', units)
}

/**
 * Releases the reserve of a job and returns its amount. Returns 0 if there is no reserve, or if it was already settled
 * (charged) or released.
 */
export function release(db: Db, accountId: string, jobId: string): number {
  return db.tx(() => {
    const held = db.find<{ units: number }>(
      `select units from ledger as reserve where job_id = $jobId and kind = 'reserve'
       and not exists (select 1 from ledger where job_id = $jobId and kind in ('settle', 'release'))`,
      { jobId },
    )
    if (!held) return 0
    add(db, accountId, jobId, 'release', held.units)
    return held.units
  })
}

/** Returns the amount that was reserved for a job and then released, or 0. */
export function findReleased(db: Db, jobId: string): number {
  // SQLite uses the index `ledger_one_end` only if the query has the same condition on `kind` as the index.
  const row = db.find<{ units: number }>(
    `select sum(units) filter (where kind = 'release') as units from ledger
     where job_id = $jobId and kind in ('settle', 'release')`,
    { jobId },
  )
  return row?.units ?? 0
}

export function findMoney(db: Db, accountId: string): Money {
  const row = db.find<{ balance: number; reserved: number; movedAt: number }>(
    `select balance_units as balance, reserved_units as reserved, money_moved_at as movedAt
     from accounts where id = $accountId`,
    { accountId },
  )
  if (!row) throw new Error(`no account ${accountId}`)
  return {
    balanceUnits: row.balance,
    reservedUnits: row.reserved,
    availableUnits: row.balance - row.reserved,
    movedAt: row.movedAt,
  }
}

function add(db: Db, accountId: string, jobId: string | null, kind: string, units: number): void {
  try {
    db.run(
      `insert into ledger (account_id, job_id, kind, units, created_at)
       values ($accountId, $jobId, $kind, $units, $now)`,
      { accountId, jobId, kind, units, now: db.now() },
    )
  } catch (error) {
    const isRefused = error instanceof SQLiteError && error.code?.startsWith('SQLITE_CONSTRAINT')
    throw isRefused ? new LedgerError(error.message, { cause: error }) : error
  }
}
