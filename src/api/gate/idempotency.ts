// Idempotency keys. The reply to a successful request with an Idempotency-Key is stored for some time. A repeated
// request with the same key and the same body gets the stored reply.

import { sha256 } from '../../base/hash.ts'
import type { Db } from '../../db/db.ts'
import { ApiError } from '../../errors.ts'
import { limits } from '../../limits.ts'

/** An Idempotency-Key that a running request has locked. */
export type Claim = { accountId: string; endpoint: string; key: string }

/**
 * The Idempotency-Keys that running requests have locked. These locks are not stored, because a restart of the server
 * ends the requests.
 */
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

/** Locks an Idempotency-Key for the current request. Throws if another running request has locked the key. */
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

/**
 * Returns the reply that was stored for an Idempotency-Key within the last `ttlMs`, or null. Throws if the reply
 * belongs to a request with another body.
 */
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

/** Stores the reply to a request. Must be called in the transaction with the changes of this request. */
export function saveReply(db: Db, claim: Claim, body: Uint8Array, reply: string): void {
  db.run(
    `insert or replace into idempotent_replies (account_id, endpoint, key, body_hash, reply, created_at)
     values ($accountId, $endpoint, $key, $bodyHash, $reply, $now)`,
    { ...claim, bodyHash: sha256(body), reply, now: db.now() },
  )
}

/**
 * Deletes the oldest stored replies that are at least `keptMs` old. One call deletes at most `purgedRepliesMax`
 * replies, because a longer call would block the server.
 */
export function purgeReplies(db: Db, { keptMs }: { keptMs: number }): void {
  db.run(
    `delete from idempotent_replies where (account_id, endpoint, key) in (
       select account_id, endpoint, key from idempotent_replies where created_at <= $createdBefore
       order by created_at limit $purgedRepliesMax)`,
    { createdBefore: db.now() - keptMs, purgedRepliesMax: limits.purgedRepliesMax },
  )
}

function nameOf({ accountId, endpoint, key }: Claim): string {
  return `${accountId} ${endpoint} ${key}`
}
