// The cursor that names the next page of a list. It contains the position of the page as whole numbers, and a
// signature. The signature also covers the account, the filters and the order. A cursor is thus valid for one list
// only.

import type { Secrets } from '../base/seal.ts'
import { ApiError } from '../errors.ts'

const purpose = 'cursor'
const signatureLength = 32

/** The values that identify a list: its account, its filters and its order. */
type ListKey = readonly (string | number | null)[]

export function writeCursor(secrets: Secrets, list: ListKey, place: readonly number[]): string {
  const text = place.join('.')
  return Buffer.from(`${text}.${signature(secrets, list, text)}`).toString('base64url')
}

/** Returns the position that a cursor contains. Throws an ApiError if the cursor was not made for this list. */
export function readCursor(secrets: Secrets, list: ListKey, cursor: string): number[] {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, place = '', signed] = /^(\d+(?:\.\d+)*)\.([0-9a-f]+)$/.exec(text) ?? []
  if (signature(secrets, list, place) !== signed) {
    throw new ApiError('INVALID_REQUEST', 'cursor does not belong to this list.')
  }
  return place.split('.').map(Number)
}

function signature(secrets: Secrets, list: ListKey, place: string): string {
  return secrets.sign(purpose, `${JSON.stringify(list)} ${place}`).slice(0, signatureLength)
}
