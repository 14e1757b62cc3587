// Prices and amounts of money. The unit of money is 1/3600 cent. A price of N cents an hour is a price of N
// units a second.

import { limits } from '../limits.ts'

/** Returns the price of audio in units. The duration is rounded down to whole seconds. */
export function priceOf(durationMs: number, pricePerHourCents: number): number {
  return wholeSeconds(durationMs) * pricePerHourCents
}

export function wholeSeconds(durationMs: number): number {
  return Math.floor(durationMs / 1000)
}

export function centsOf(units: number): number {
  return units / limits.unitsPerCent
}

/** Converts dollars to cents: `7.5` becomes 750. Returns null when the text is not an amount of money. */
export function parseDollars(text: string): number | null {
  const [, dollars, cents = ''] = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(text) ?? []
  return dollars ? Number(dollars) * 100 + Number(cents.padEnd(2, '0')) : null
}
