// Money in units of 1/3600 cent. At any price in whole cents an hour, a second of audio costs a whole number of units.

import { limits } from '../limits.ts'

/** Returns the price of audio. A fraction of a second is free. */
export function priceOf(durationMs: number, pricePerHourCents: number): number {
  return wholeSeconds(durationMs) * pricePerHourCents
}

export function wholeSeconds(durationMs: number): number {
  return Math.floor(durationMs / 1000)
}

export function centsOf(units: number): number {
  return units / limits.unitsPerCent
}

/** Converts dollars such as `10.00` or `7.5` to cents. Returns null when the text is not an amount of money. */
export function parseDollars(text: string): number | null {
  const [, dollars, cents = ''] = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(text) ?? []
  return dollars ? Number(dollars) * 100 + Number(cents.padEnd(2, '0')) : null
}
