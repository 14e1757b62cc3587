// Runs the transactions of a connection. Limits how long its writes wait for the write lock of another process.

import type { Database } from 'bun:sqlite'
import type { Clock } from './db.ts'
import { refusalOf } from './refusal.ts'

export type Transactions = {
  /** Runs `work` in a transaction. Joins the open transaction, if there is one. */
  tx<T>(work: () => T): T
  /** Returns the time at which the open transaction began. Without an open transaction, returns the current time. */
  now(): number
}

/**
 * `write` runs each transaction, and limits its wait for the write lock of another process. `onBegin` and `onCommit`
 * are called once for each transaction.
 */
export function openTransactions(
  sql: Database,
  {
    clock,
    write,
    onBegin,
    onCommit,
  }: { clock: Clock; write: <T>(work: () => T) => T; onBegin: () => void; onCommit: () => void },
): Transactions {
  let beganAt: number | null = null

  function run<T>(work: () => T): T {
    onBegin()
    sql.run('begin immediate')
    beganAt = clock()
    try {
      const result = work()
      sql.run('commit')
      onCommit()
      return result
    } catch (error) {
      if (sql.inTransaction) sql.run('rollback')
      throw error
    } finally {
      beganAt = null
    }
  }

  return {
    tx: work => (beganAt === null ? write(() => run(work)) : work()),
    now: () => beganAt ?? clock(),
  }
}

/**
 * Returns a function that runs a write to the database. A write waits up to `busyMs` for the write lock. After a
 * timeout, the next writes do not wait, until a write succeeds. The server answers no request while a write waits, so a
 * lock that stays held must not delay every write.
 */
export function waitOnce(sql: Database, busyMs: number): <T>(write: () => T) => T {
  let waits = true
  const setWaits = (wanted: boolean) => {
    waits = wanted
    sql.run(`pragma busy_timeout = ${waits ? busyMs : 0}`)
  }
  return write => {
    try {
      const result = write()
      if (!waits) setWaits(true)
      return result
    } catch (error) {
      if (waits && refusalOf(error) === 'busy') setWaits(false)
      throw error
    }
  }
}
