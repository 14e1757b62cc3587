// Reads texts of JSON from columns of the database.

import { log } from '../base/log.ts'

/** The damaged texts that were found, by table, row and column. Each of them is logged once. */
const damaged = new Set<string>()

/**
 * Parses the JSON text of a column. Returns `fallback` for null, and for a text that is not JSON. A disk may have
 * damaged the text, and one damaged row must not prevent the start of the service. `place` has the table, the row and
 * the column.
 */
export function parseColumn<Value>(
  text: string | null,
  fallback: Value,
  place: { table: string; id: string; column: string },
): Value {
  if (text === null) return fallback
  try {
    return JSON.parse(text)
  } catch {
    const name = Object.values(place).join(' ')
    if (!damaged.has(name)) log.error('damaged text in the database', place)
    damaged.add(name)
    return fallback
  }
}
