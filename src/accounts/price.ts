// Money is counted in units of 1/3600 cent, so that a second at any whole price is a whole number.

import { limits } from '../limits.ts'

/** The charge for audio, by its whole seconds. */
export function priceOf(durationMs: number, pricePerHourCents: number): number {
  return wholeSeconds(durationMs) * pricePerHourCents
}

export function wholeSeconds(durationMs: number): number {
  return Math.floor(durationMs / 1000)
}

export function centsOf(units: number): number {
  return units / limits.unitsPerCent
}

/** `10.00` or `7.5` dollars in cents; null when it is no amount of money. */
export function parseDollars(text: string): number | null {
  const [, dollars, cents = ''] = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(text) ?? []
  return dollars ? Number(dollars) * 100 + Number(cents.padEnd(2, '0')) : null
}
