// The cursor of a page of jobs. A cursor contains the position of the last job on the page. Its signature
// makes the cursor valid for only one list.

import type { Secrets } from '../base/seal.ts'
import { ApiError } from '../errors.ts'
import type { ListFilter, Place } from '../jobs/list.ts'

const purpose = 'cursor'
const signatureLength = 32

/** The list that a cursor is valid for. A cursor is refused for another account, filter or order. */
type ListKey = { accountId: string; filter: ListFilter }

export function writeCursor(secrets: Secrets, key: ListKey, { createdAt, seq }: Place): string {
  const place = `${createdAt}.${seq}`
  return Buffer.from(`${place}.${signature(secrets, key, place)}`).toString('base64url')
}

export function readCursor(secrets: Secrets, key: ListKey, cursor: string): Place {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, place = '', createdAt, seq, signed] = /^((\d+)\.(\d+))\.([0-9a-f]+)$/.exec(text) ?? []
  if (signature(secrets, key, place) !== signed) {
    throw new ApiError('INVALID_REQUEST', 'cursor does not belong to this list.')
  }
  return { createdAt: Number(createdAt), seq: Number(seq) }
}

function signature(secrets: Secrets, { accountId, filter }: ListKey, place: string): string {
  const list = JSON.stringify([accountId, filter.state, filter.fromMs, filter.toMs, filter.order])
  return secrets.sign(purpose, `${list} ${place}`).slice(0, signatureLength)
}
