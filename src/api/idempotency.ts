// Idempotency keys: the first reply is stored with its key and body, and sent again for the same request.

import { sha256 } from '../base/hash.ts'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { limits } from '../limits.ts'

/** An Idempotency-Key that is locked by a running request. */
export type Claim = { accountId: string; endpoint: string; key: string }

/** Keys of running requests. In memory only, because a restart ends the requests too. */
const running = new Set<string>()

export function readIdempotencyKey(header: string | null): string | null {
  if (header === null) return null
  if (!/^[\x20-\x7e]+$/.test(header) || header.length > limits.idempotencyKeyLengthMax) {
    throw new ApiError(
      'INVALID_REQUEST',
      `Idempotency-Key must be 1 to ${limits.idempotencyKeyLengthMax} printable ASCII characters.`,
    )
  }
  return header
}

/** Throws when another request with this key is still running. */
export function claimKey(claim: Claim): void {
  const name = nameOf(claim)
  if (running.has(name)) {
    const seconds = limits.idempotencyRetryAfterMs / 1000
    throw new ApiError('IDEMPOTENCY_KEY_LOCKED', undefined, { 'Retry-After': `${seconds}` })
  }
  running.add(name)
}

export function freeKey(claim: Claim): void {
  running.delete(nameOf(claim))
}

/** Returns the stored reply, or null. Throws when it belongs to another body. */
export function findReply(
  db: Db,
  claim: Claim,
  body: Uint8Array,
  { ttlMs }: { ttlMs: number },
): string | null {
  const row = db.find<{ bodyHash: string; reply: string }>(
    `select body_hash as bodyHash, reply from idempotent_replies
     where account_id = $accountId and endpoint = $endpoint and key = $key and created_at > $after`,
    { ...claim, after: db.now() - ttlMs },
  )
  if (!row) return null
  if (row.bodyHash !== sha256(body)) throw new ApiError('IDEMPOTENCY_KEY_CONFLICT')
  return row.reply
}

/** Must be called inside the transaction that does the work. */
export function saveReply(db: Db, claim: Claim, body: Uint8Array, reply: string): void {
  db.run(
    `insert or replace into idempotent_replies (account_id, endpoint, key, body_hash, reply, created_at)
     values ($accountId, $endpoint, $key, $bodyHash, $reply, $now)`,
    { ...claim, bodyHash: sha256(body), reply, now: db.now() },
  )
}

export function purgeReplies(db: Db, { keptMs }: { keptMs: number }): void {
  db.run('delete from idempotent_replies where created_at <= $createdBefore', {
    createdBefore: db.now() - keptMs,
  })
}

function nameOf({ accountId, endpoint, key }: Claim): string {
  return `${accountId} ${endpoint} ${key}`
}
