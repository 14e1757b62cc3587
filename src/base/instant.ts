// Parses dates and times that callers send in requests.

const iso = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/i

/**
 * Converts an ISO 8601 date with hyphens to milliseconds since 1970. The time is optional, and midnight by default. The
 * default time zone is UTC. Returns null for any other text. A fraction of a millisecond is rounded up. A comparison
 * with stored times, which are whole milliseconds, then finds all times before the given time, and no others.
 */
export function parseInstant(text: string): number | null {
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    iso.exec(text) ?? []
  if (!year) return null
  const offset = /^z$/i.test(zone) ? 'Z' : zone.replace(/^(.{3})(\d{2})$/, '$1:$2')
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${fraction.slice(0, 4)}${offset}`)
  const rolledOver =
    new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() !== Number(day)
  const isBetween = /[1-9]/.test(fraction.slice(4))
  return Number.isNaN(ms) || rolledOver ? null : ms + (isBetween ? 1 : 0)
}
