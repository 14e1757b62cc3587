// Reads and sets the settings of an account: its password, its webhook address and its operator flag.

import type { Db } from '../db/db.ts'

export type AccountSettings = { operator: boolean; passwordHash: string | null; webhookUrl: string | null }

type Row = Omit<AccountSettings, 'operator'> & { operator: number }

export function findAccountSettings(db: Db, id: string): AccountSettings {
  const row = db.find<Row>(
    `select operator, password_hash as passwordHash, webhook_url as webhookUrl from accounts where id = $id`,
    { id },
  )
  if (!row) throw new Error(`no account ${id}`)
  return { ...row, operator: row.operator === 1 }
}

/** Sets the operator flag of an account. An operator can see the state of the whole service. */
export function setOperator(db: Db, id: string, isOperator: boolean): void {
  db.run('update accounts set operator = $operator where id = $id', { id, operator: Number(isOperator) })
}

export function setPassword(db: Db, id: string, passwordHash: string): void {
  db.run('update accounts set password_hash = $passwordHash where id = $id and deleted_at is null', {
    id,
    passwordHash,
  })
}

/** Sets the webhook address of an account that is not deleted. Jobs without a webhook address of their own use it. */
export function setDefaultWebhook(db: Db, id: string, webhookUrl: string | null): void {
  db.run('update accounts set webhook_url = $webhookUrl where id = $id and deleted_at is null', {
    id,
    webhookUrl,
  })
}
