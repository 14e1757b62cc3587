// Reads and writes accounts in the database.

import { newId } from '../base/id.ts'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'

export type Account = {
  id: string
  email: string
  verifiedAt: number | null
  /** 1 for an operator, otherwise 0. */
  operator: number
  webhookUrl: string | null
  balanceUnits: number
  reservedUnits: number
  createdAt: number
  /** The time at which the erasure of the account began. Null if it has not begun. */
  deletedAt: number | null
}

const columns = `id, email, verified_at as verifiedAt, operator, webhook_url as webhookUrl,
  balance_units as balanceUnits, reserved_units as reservedUnits, created_at as createdAt, deleted_at as deletedAt`

/** Creates an account. Returns null if an account with this email address already exists. */
export function createAccount(
  db: Db,
  { email, passwordHash, verified }: { email: string; passwordHash: string | null; verified: boolean },
): Account | null {
  return db.tx(() => {
    if (findAccountByEmail(db, email)) return null
    const now = db.now()
    db.run(
      `insert into accounts (id, email, password_hash, verified_at, money_moved_at, created_at)
       values ($id, $email, $passwordHash, $verifiedAt, $now, $now)`,
      { id: newId(), email, passwordHash, verifiedAt: verified ? now : null, now },
    )
    return findAccountByEmail(db, email)
  })
}

export function findAccount(db: Db, id: string): Account | null {
  return db.find<Account>(`select ${columns} from accounts where id = $id`, { id })
}

export function findAccountByEmail(db: Db, email: string): Account | null {
  return db.find<Account>(`select ${columns} from accounts where email = $email`, { email })
}

/** Lists the accounts, except those whose erasure is complete. */
export function listAccounts(db: Db): Account[] {
  return db.list<Account>(
    `select ${columns} from accounts where deleted_at is null or email <> 'deleted-' || id
     order by created_at, id`,
  )
}

export function verifyAccount(db: Db, id: string, passwordHash: string): void {
  db.run('update accounts set verified_at = $now, password_hash = $passwordHash where id = $id', {
    id,
    passwordHash,
    now: db.now(),
  })
}

/**
 * Marks an account as deleted. Removes its password and webhook address. `forgetAccount` removes its email address
 * later.
 */
export function closeAccount(db: Db, id: string): void {
  db.run('update accounts set deleted_at = $now, password_hash = null, webhook_url = null where id = $id', {
    id,
    now: db.now(),
  })
}

/** Removes the personal data of an account. The row stays, because ledger entries may refer to it. */
export function forgetAccount(db: Db, id: string): void {
  db.run(
    `update accounts set email = 'deleted-' || id, password_hash = null, verified_at = null where id = $id`,
    { id },
  )
}

/**
 * Throws an ApiError if the account is deleted. A request from before the deletion may still run. Each function by
 * which a request adds something to an account therefore calls this function in its transaction.
 */
export function requireNotDeleted(db: Db, id: string): void {
  if (db.find('select 1 from accounts where id = $id and deleted_at is not null', { id }))
    throw new ApiError('FORBIDDEN', 'This account was deleted.')
}

/**
 * Moves an account to the end of the queue of accounts. The service starts one job of each account in turn (round
 * robin), so an account with many jobs does not delay other accounts.
 */
export function takeTurn(db: Db, id: string): void {
  db.run('update accounts set served_turn = (select max(served_turn) + 1 from accounts) where id = $id', {
    id,
  })
}
