// Reads what the database stores about one account, without secrets.

import type { Db } from '../db/db.ts'
import { findTranscript } from '../transcripts/find-transcript.ts'
import { tablesOfAccounts } from './erase.ts'

type Row = Record<string, unknown>

const ownJobs = '(select id from jobs where account_id = $accountId)'
const ownGrants = 'from grants where account_id = $accountId'

/**
 * The conditions for the tables whose rows are not selected by their column `account_id`. These tables do not have the
 * column, or some of their rows have no value in it.
 */
const conditions: Record<string, string> = {
  accounts: 'id = $accountId',
  webhook_events: `job_id in ${ownJobs}`,
  grant_tokens: `grant_id in (select id ${ownGrants})`,
  clients: `id in (select client_id ${ownGrants})`,
}

/**
 * Yields the rows of an account without secrets and hashes, and then the transcripts of its jobs. Each row has the name
 * of its table. The field `original` has the transcript before its edits. A transcript without edits does not have this
 * field.
 */
export function* rowsOfAccount(db: Db, accountId: string): Generator<Row> {
  const tables = new Set([...Object.keys(conditions), ...tablesOfAccounts(db), 'ledger', 'jobs'])
  // The result lacks this table of the search index, because the index has nothing that the transcripts do not have.
  tables.delete('search_parts')
  for (const table of tables) {
    const condition = conditions[table] ?? 'account_id = $accountId'
    for (const row of db.list<Row>(`select * from ${table} where ${condition}`, { accountId }))
      yield { table, ...shown(row) }
  }
  const transcripts = `select job_id as id, edits from transcripts where head is not null and job_id in ${ownJobs}`
  for (const { id, edits } of db.list<{ id: string; edits: number }>(transcripts, { accountId })) {
    const original = edits > 0 ? { original: findTranscript(db, id, 'original') } : {}
    yield { table: 'transcripts', job_id: id, current: findTranscript(db, id), ...original }
  }
}

/**
 * Matches the names of the columns that are left out: those with hashes, encrypted values, or replies, which may
 * contain a signed address. `state_at` is left out too, because it is an uptime and not a date.
 */
const leftOut = /(^|_)hash$|^sealed_|^code_challenge$|^reply$|^state_at$/

/** Returns a row without the columns that `leftOut` matches. Converts its times to ISO 8601. */
function shown(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([column]) => !leftOut.test(column))
      .map(([column, value]) => [
        column,
        column.endsWith('_at') && typeof value === 'number' ? new Date(value).toISOString() : value,
      ]),
  )
}
