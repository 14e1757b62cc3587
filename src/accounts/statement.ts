// The statement of an account: its deposits and charges, newest first. Each entry contains the balance after the
// deposit or charge.

import type { Db } from '../db/db.ts'

export type StatementEntry = {
  id: number
  kind: 'deposit' | 'settle'
  units: number
  /** The balance of the account after this deposit or charge, in units of 1/3600 cent. */
  balanceUnits: number
  jobId: string | null
  createdAt: number
}

/**
 * The last entry of a page of the statement, and the balance of the account before this entry. The next page continues
 * from there.
 */
export type StatementPlace = { id: number; balanceUnits: number }

type Row = Omit<StatementEntry, 'balanceUnits'> & { presentUnits: number }

/**
 * Lists the deposits and charges of an account, newest first. If `before` is given, lists only older entries than
 * `before`. The balances are computed backwards from the present balance or the balance in `before`, because a sum over
 * a large ledger would block the server.
 */
export function listStatement(
  db: Db,
  accountId: string,
  { before, limit }: { before: StatementPlace | null; limit: number },
): StatementEntry[] {
  const rows = db.list<Row>(
    `select ledger.id, kind, units, job_id as jobId, ledger.created_at as createdAt, balance_units as presentUnits
     from ledger join accounts on accounts.id = account_id
     where account_id = $accountId and kind in ('deposit', 'settle') and ledger.id < $beforeId
     order by ledger.id desc limit $limit`,
    { accountId, beforeId: before?.id ?? Number.MAX_SAFE_INTEGER, limit },
  )
  let balanceUnits = before?.balanceUnits ?? rows[0]?.presentUnits ?? 0
  return rows.map(({ presentUnits: _, ...row }) => {
    const entry = { ...row, balanceUnits }
    balanceUnits = balanceBefore(entry)
    return entry
  })
}

/** Returns the balance of the account before an entry. */
export function balanceBefore({ kind, units, balanceUnits }: StatementEntry): number {
  return kind === 'deposit' ? balanceUnits - units : balanceUnits + units
}
