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
 * Lists the entries of an account's ledger that change the balance: deposits, and charges for jobs. Entries that only
 * reserve money for a job, or release this money again, are left out, because they do not change the balance.
 */
export function listStatement(
  db: Db,
  accountId: string,
  { before, limit }: { before: number; limit: number },
): StatementEntry[] {
  return db.list<StatementEntry>(
    `select * from (
       select id, kind, units, job_id as jobId, created_at as createdAt,
         sum(case kind when 'deposit' then units else -units end) over (order by id) as balanceUnits
       from ledger where account_id = $accountId and kind in ('deposit', 'settle')
     ) where id < $before order by id desc limit $limit`,
    { accountId, before, limit },
  )
}
