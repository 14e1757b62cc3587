// Reads facts about many jobs at once from the database: the use of the server by each account, and the names of jobs.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'

export type UseOfAccount = {
  email: string
  jobs: number
  audioMs: number
  chargedUnits: number
  balanceUnits: number
  lastJobAt: number | null
}

/**
 * Lists the accounts with the most transcribed audio in the last 30 days, the most audio first. Erased accounts are
 * left out.
 */
export function listUse(db: Db): UseOfAccount[] {
  // Present jobs and deleted jobs are read by two different indexes. Otherwise SQLite would read all jobs once for each
  // account.
  return db.list<UseOfAccount>(
    `with recent as (
       select jobs.account_id, state, duration_ms, jobs.created_at from accounts
       cross join jobs on jobs.account_id = accounts.id and jobs.created_at > $after and jobs.deleted_at is null
       union all
       select account_id, state, duration_ms, created_at from jobs
       where deleted_at is not null and created_at > $after)
     select email, count(recent.state) as jobs,
       coalesce(sum(case recent.state when 'completed' then recent.duration_ms end), 0) as audioMs,
       (select coalesce(sum(units), 0) from ledger
        where account_id = accounts.id and kind = 'settle' and ledger.created_at > $after) as chargedUnits,
       balance_units as balanceUnits, max(recent.created_at) as lastJobAt
     from accounts left join recent on recent.account_id = accounts.id
     where accounts.deleted_at is null group by accounts.id order by audioMs desc, email limit $most`,
    { after: db.now() - limits.shownAccountsMs, most: limits.shownAccounts },
  )
}

/**
 * Returns the name and the duration of each job in `ids`, by the id of the job. The name is `name` in the metadata, or
 * else the file name of the upload, or else the address of the source. Deleted jobs are left out.
 */
export function findNames(
  db: Db,
  ids: readonly string[],
): Map<string, { name: string; durationMs: number | null }> {
  const rows = db.list<{ id: string; name: string; durationMs: number | null }>(
    `select jobs.id, coalesce(json_extract(metadata, '$.name'), uploads.filename, source_url) as name, duration_ms as durationMs
     from jobs left join uploads on uploads.id = upload_id
     where deleted_at is null and jobs.id in (select value from json_each($ids))`,
    { ids: JSON.stringify(ids) },
  )
  return new Map(rows.map(({ id, ...job }) => [id, job]))
}
