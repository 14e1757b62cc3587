// The cursor of a page. A cursor contains the place of the next page: two whole numbers. Its signature makes the
// cursor valid for only one list.

import type { Secrets } from '../base/seal.ts'
import { ApiError } from '../errors.ts'

const purpose = 'cursor'
const signatureLength = 32

/** The list that a cursor is valid for, with its account, filters and order. */
type ListKey = readonly (string | number | null)[]

export function writeCursor(secrets: Secrets, list: ListKey, place: [number, number]): string {
  const text = place.join('.')
  return Buffer.from(`${text}.${signature(secrets, list, text)}`).toString('base64url')
}

/** Returns the place in a cursor. Throws an ApiError for a cursor of another list. */
export function readCursor(secrets: Secrets, list: ListKey, cursor: string): [number, number] {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, place = '', first, second, signed] = /^((\d+)\.(\d+))\.([0-9a-f]+)$/.exec(text) ?? []
  if (signature(secrets, list, place) !== signed) {
    throw new ApiError('INVALID_REQUEST', 'cursor does not belong to this list.')
  }
  return [Number(first), Number(second)]
}

function signature(secrets: Secrets, list: ListKey, place: string): string {
  return secrets.sign(purpose, `${JSON.stringify(list)} ${place}`).slice(0, signatureLength)
}
