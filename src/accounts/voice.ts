// The voices that an account has enrolled, each with a name. A voice print is biometric data, so the database stores it
// encrypted, and the API never returns it. A voice print is deleted with its voice or its account. If transcripts have
// a retention time, a voice that is unused for this time is deleted.

import { newId } from '../base/id.ts'
import type { Secrets } from '../base/seal.ts'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { limits } from '../limits.ts'
import { requireNotDeleted } from './account.ts'
import { purgeRows } from './purge-rows.ts'

export type Voice = {
  id: string
  name: string
  model: string
  seconds: number
  createdAt: number
  usedAt: number
}

type Print = { model: string; seconds: number; print: readonly number[] }

const columns = 'id, name, model, seconds, created_at as createdAt, used_at as usedAt'

export function listVoices(db: Db, accountId: string): Voice[] {
  return db.list(`select ${columns} from voices where account_id = $accountId order by name`, { accountId })
}

/** Throws an ApiError if the account already has a voice of this name, or `voicesMax` voices. */
export function requireNewName(db: Db, accountId: string, name: string): void {
  const voices = listVoices(db, accountId)
  if (voices.some(voice => voice.name === name))
    throw new ApiError('CONFLICT', `There is a voice of the name ${name} already: delete it first.`)
  if (voices.length >= limits.voicesMax)
    throw new ApiError('CONFLICT', `An account has at most ${limits.voicesMax} voices: delete one first.`)
}

export function enrolVoice(
  db: Db,
  secrets: Secrets,
  accountId: string,
  { name, model, seconds, print }: Print & { name: string },
): Voice {
  const id = newId()
  return db.tx(() => {
    requireNotDeleted(db, accountId)
    requireNewName(db, accountId, name)
    const now = db.now()
    db.run(
      `insert into voices (id, account_id, name, model, sealed_print, seconds, created_at, used_at)
       values ($id, $accountId, $name, $model, $sealedPrint, $seconds, $now, $now)`,
      { id, accountId, name, model, sealedPrint: secrets.seal(JSON.stringify(print)), seconds, now },
    )
    return { id, name, model, seconds, createdAt: now, usedAt: now }
  })
}

/** Deletes a voice. Returns false if the account has no voice with this id. */
export function deleteVoice(db: Db, accountId: string, id: string): boolean {
  return db.run('delete from voices where id = $id and account_id = $accountId', { id, accountId }) > 0
}

/** Returns the voice prints of an account in decrypted form. */
export function findPrints(
  db: Db,
  secrets: Secrets,
  accountId: string,
): { name: string; model: string; print: number[] }[] {
  return db
    .list<{ name: string; model: string; sealed: string }>(
      'select name, model, sealed_print as sealed from voices where account_id = $accountId order by name',
      { accountId },
    )
    .map(({ name, model, sealed }) => ({ name, model, print: JSON.parse(secrets.open(sealed)) }))
}

/**
 * Stores the current time as the last use of these voices. A voice is used when a speaker in a transcript gets the name
 * of the voice.
 */
export function markVoicesUsed(db: Db, accountId: string, names: readonly string[]): void {
  for (const name of names)
    db.run('update voices set used_at = $now where account_id = $accountId and name = $name', {
      accountId,
      name,
      now: db.now(),
    })
}

/**
 * Deletes at most `purgedRowsMax` voices whose last use was at least `keptMs` ago. The enrolment counts as a use.
 * Returns true if more of them may be left.
 */
export function purgeVoices(db: Db, { keptMs }: { keptMs: number }): boolean {
  const params = { before: db.now() - keptMs }
  return purgeRows(db, { table: 'voices', key: 'id', where: 'used_at <= $before', params })
}
