// Prices, and conversions of amounts of money. A unit of money is 1/3600 cent, so a price of N cents an hour is N units
// a second.

import { limits } from '../limits.ts'

/** Returns the price of audio in units (1/3600 cent). Only whole seconds of the audio are charged. */
export function priceOf(durationMs: number, pricePerHourCents: number): number {
  return wholeSeconds(durationMs) * pricePerHourCents
}

export function wholeSeconds(durationMs: number): number {
  return Math.floor(durationMs / 1000)
}

export function centsOf(units: number): number {
  return units / limits.unitsPerCent
}

/**
 * Converts an amount in dollars to cents: `7.5` becomes 750. Returns null unless the text is one to nine digits,
 * optionally followed by a point and one or two digits.
 */
export function parseDollars(text: string): number | null {
  const [, dollars, cents = ''] = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(text) ?? []
  return dollars ? Number(dollars) * 100 + Number(cents.padEnd(2, '0')) : null
}
