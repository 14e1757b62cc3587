// The use of the server by each account, for the operator.

import { nextTurn } from '../base/next-turn.ts'
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
 * left out. The jobs are read in several turns of the event loop: reading a million jobs takes seconds.
 */
export async function listUse(db: Db): Promise<UseOfAccount[]> {
  const after = db.now() - limits.shownAccountsMs
  const sums = await sumJobs(db, after)
  const shown = db
    .list<Owner>('select id, email, balance_units as balanceUnits from accounts where deleted_at is null')
    .map(({ id, ...owner }) => ({ id, ...owner, ...(sums.get(id) ?? noJobs) }))
    .toSorted((one, other) => other.audioMs - one.audioMs || (one.email < other.email ? -1 : 1))
    .slice(0, limits.shownAccounts)
  const uses: UseOfAccount[] = []
  for (const { id, ...use } of shown) {
    uses.push({ ...use, chargedUnits: sumCharges(db, id, after) })
    await nextTurn()
  }
  return uses
}

type Owner = { id: string } & Pick<UseOfAccount, 'email' | 'balanceUnits'>
type Sums = Pick<UseOfAccount, 'jobs' | 'audioMs' | 'lastJobAt'>

const noJobs: Sums = { jobs: 0, audioMs: 0, lastJobAt: null }

/**
 * Returns the sums of the jobs that were created later than `after`, by the id of the account. Reads the newest jobs
 * first, and stops at a page whose jobs are all older.
 */
async function sumJobs(db: Db, after: number): Promise<Map<string, Sums>> {
  const sums = new Map<string, Sums>()
  for (let before = Number.MAX_SAFE_INTEGER, isLast = false; !isLast; ) {
    const page = db.list<Sums & { accountId: string; firstSeq: number }>(
      `select account_id as accountId, sum(created_at > $after) as jobs, max(created_at) as lastJobAt,
         sum(iif(created_at > $after and state = 'completed', coalesce(duration_ms, 0), 0)) as audioMs,
         min(seq) as firstSeq
       from (select * from jobs where seq < $before order by seq desc limit $limit) group by account_id`,
      { after, before, limit: limits.summedJobsPerTurn },
    )
    const recent = page.filter(({ jobs }) => jobs > 0)
    for (const { accountId, ...more } of recent)
      sums.set(accountId, plus(sums.get(accountId) ?? noJobs, more))
    before = Math.min(...page.map(({ firstSeq }) => firstSeq))
    isLast = recent.length === 0
    await nextTurn()
  }
  return sums
}

function plus(one: Sums, other: Sums): Sums {
  return {
    jobs: one.jobs + other.jobs,
    audioMs: one.audioMs + other.audioMs,
    lastJobAt: Math.max(one.lastJobAt ?? 0, other.lastJobAt ?? 0),
  }
}

function sumCharges(db: Db, accountId: string, after: number): number {
  const row = db.find<{ units: number }>(
    `select coalesce(sum(units), 0) as units from ledger
     where account_id = $accountId and kind = 'settle' and created_at > $after`,
    { accountId, after },
  )
  return row?.units ?? 0
}
