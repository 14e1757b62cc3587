// Erases an account: its jobs, transcripts, media, mails, keys, and all other rows that refer to it. The entries of the
// ledger stay. The account's own row stays without personal data. A second call of `eraseAccount` completes an
// interrupted erasure.

import { rmSync } from 'node:fs'
import { closeAccount, forgetAccount } from '../accounts/account.ts'
import { removeMailTo } from '../accounts/mail-folder.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { deleteTranscript } from '../transcripts/delete-transcript.ts'
import { uploadPath } from '../uploads/disk.ts'
import { sumMedia } from '../uploads/room.ts'
import { failJob } from './end.ts'
import { type Job, selectJobs } from './job.ts'
import { removeMedia } from './media-files.ts'

type Owner = { id: string; email: string }

export function eraseAccount(db: Db, dataDir: string, { id: accountId, email }: Owner): void {
  lockOut(db, accountId)
  for (const table of ['webhook_events', 'idempotent_replies'] as const) deleteRows(db, table, accountId)
  for (const job of jobsOf(db, accountId)) eraseJob(db, dataDir, job)
  for (const { id } of db.list<{ id: string }>('select id from uploads where account_id = $accountId', {
    accountId,
  }))
    rmSync(uploadPath(dataDir, id), { force: true })
  deleteRows(db, 'uploads', accountId)
  db.tx(() => {
    for (const table of tablesOfAccounts(db))
      db.run(`delete from ${table} where account_id = $accountId`, { accountId })
    forgetAccount(db, accountId)
  })
  removeMailTo(dataDir, email)
}

/** The tables that may have many rows of an account, with the columns of their keys. */
const manyRows = { webhook_events: 'id', idempotent_replies: 'account_id, endpoint, key', uploads: 'id' }

/**
 * Deletes the rows of an account in several transactions. One transaction that deletes 200,000 rows would lock the
 * database for a second, and the server could not write during this time.
 */
function deleteRows(db: Db, table: keyof typeof manyRows, accountId: string): void {
  const key = manyRows[table]
  const piece = `delete from ${table} where (${key}) in (
    select ${key} from ${table} where account_id = $accountId limit $limit)`
  const params = { accountId, limit: limits.erasedRowsPerPiece }
  for (let deleted = 1; deleted > 0; ) deleted = withPause(() => db.run(piece, params))
}

/**
 * Calls `work`, and then waits for as long as `work` took. A command erases the account, while the server in another
 * process may need the same database. Without this pause, the server rarely gets the write lock between two
 * transactions of the command.
 */
function withPause<Result>(work: () => Result): Result {
  const beganAt = performance.now()
  const result = work()
  Bun.sleepSync(performance.now() - beganAt)
  return result
}

/**
 * Returns what an erasure of this account would remove: the number of its jobs, and the bytes of its media. Jobs that
 * are already deleted are not counted.
 */
export function countBelongings(db: Db, accountId: string): { jobs: number; mediaBytes: number } {
  const jobs = jobsOf(db, accountId)
  return {
    jobs: jobs.filter(({ deletedAt }) => deletedAt === null).length,
    mediaBytes: sumMedia(db, accountId),
  }
}

/**
 * Ends all access to the account, so that no request adds data during the erasure. Revokes the keys, closes the
 * account, and deletes its rows from the tables in `tablesOfAccounts`, except `keys` and those in `manyRows`.
 */
function lockOut(db: Db, accountId: string): void {
  db.tx(() => {
    const now = db.now()
    db.run('update keys set revoked_at = $now where account_id = $accountId and revoked_at is null', {
      now,
      accountId,
    })
    closeAccount(db, accountId)
    for (const table of tablesOfAccounts(db)) {
      if (table !== 'keys' && !(table in manyRows))
        db.run(`delete from ${table} where account_id = $accountId`, { accountId })
    }
  })
}

function jobsOf(db: Db, accountId: string): Job[] {
  return selectJobs(db, 'where account_id = $accountId', { accountId })
}

function eraseJob(db: Db, dataDir: string, job: Job): void {
  failJob(db, job.id, { code: 'CANCELLED' })
  // Each call of `deleteTranscript` removes a limited number of utterances. Removing a long transcript in one
  // transaction would block the server.
  while (db.find('select 1 from transcripts where job_id = $id', { id: job.id }) !== null)
    withPause(() => db.tx(() => deleteTranscript(db, job)))
  removeMedia(db, dataDir, job)
  withPause(() => db.run('delete from jobs where id = $id', { id: job.id }))
}

/**
 * Returns the names of the tables with a column `account_id`, except `ledger` and `jobs`. A table that refers to
 * another table comes before that table, because its rows must be deleted first.
 */
export function tablesOfAccounts(db: Db): string[] {
  const tables = db.list<{ name: string }>(
    `select tables.name from sqlite_schema as tables join pragma_table_info(tables.name) as columns
     where tables.type = 'table' and columns.name = 'account_id'
       and tables.name not in ('ledger', 'jobs')`,
  )
  const last = ['uploads', 'keys']
  return tables.map(({ name }) => name).toSorted((one, other) => last.indexOf(one) - last.indexOf(other))
}
