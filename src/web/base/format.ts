// Formats numbers, dates and durations according to the language of the browser.

import { words } from '../words.ts'
import { now } from './clock.ts'

// `navigator.languages` may contain the name of a system locale, such as en-US@posix. Such a name is left out, because
// Intl would throw an error for it.
const locale = navigator.languages.filter(isLanguageTag)
const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
const dayOnly = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
const timeOnly = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })
const plain = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
const exact = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 })
const dollars = new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD' })
const exactDollars = new Intl.NumberFormat(locale, {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 4,
})
const statementDollars = new Intl.NumberFormat(locale, {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 4,
})
const languageNames = new Intl.DisplayNames(locale, { type: 'language' })

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

export function showDateTime(at: string | number): string {
  return isolated(dateTime.format(new Date(at)))
}

export function showDay(at: string | number): string {
  return isolated(dayOnly.format(new Date(at)))
}

export function showTime(at: string | number): string {
  return isolated(timeOnly.format(new Date(at)))
}

/** Returns a relative time such as "3 min. ago" or "just now". Returns the date if `at` is more than seven days ago. */
export function showAgo(at: string | number): string {
  const ago = now() - new Date(at).getTime()
  if (ago > 7 * day) return showDay(at)
  if (ago >= day) return isolated(relative.format(-Math.round(ago / day), 'day'))
  if (ago >= hour) return isolated(relative.format(-Math.floor(ago / hour), 'hour'))
  if (ago < minute) return words.justNow
  return isolated(relative.format(-Math.floor(ago / minute), 'minute'))
}

/** Returns a position in a recording as text, such as `1:02:03` or `2:03`. */
export function showClock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const start = hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}` : String(minutes)
  return `${start}:${String(rest).padStart(2, '0')}`
}

/** Returns a duration as text, such as "1 h 20 min". Seconds are shown only below ten minutes. */
export function showDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return words.units.seconds(plain.format(whole))
  if (whole < 600 && whole % 60 !== 0) {
    const minutes = words.units.minutes(plain.format(Math.floor(whole / 60)))
    return `${minutes} ${words.units.seconds(plain.format(whole % 60))}`
  }
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return words.units.minutes(plain.format(minutes))
  const rest = minutes % 60
  const hours = words.units.hours(plain.format(Math.floor(minutes / 60)))
  return rest === 0 ? hours : `${hours} ${words.units.minutes(plain.format(rest))}`
}

export function showBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)))
  return `${plain.format(bytes / 1024 ** step)} ${units[step]}`
}

export function showNumber(value: number): string {
  return plain.format(value)
}

/** Returns a playback speed as text, such as `1.25×`. */
export function showSpeed(factor: number): string {
  return `${exact.format(factor)}×`
}

export function showPercent(share: number): string {
  return isolated(percent.format(share))
}

/** Returns an amount in dollars as text. Below one dollar, fractions of a cent are shown too. */
export function showMoney(cents: number): string {
  return isolated((Math.abs(cents) < 100 && cents % 1 !== 0 ? exactDollars : dollars).format(cents / 100))
}

/** Returns an amount in dollars with four decimals. A negative amount gets a minus sign (−) in place of the hyphen. */
export function showAmount(cents: number): string {
  return isolated(statementDollars.format(cents / 100).replace('-', '−'))
}

/**
 * Returns the name that the page shows for a speaker's label: `Speaker 1` for `SPEAKER 1`. Exported files show the same
 * name.
 */
export function showSpeaker(label: string): string {
  return label.replace(/^SPEAKER(?= \d+$)/, 'Speaker')
}

export function showLanguage(code: string): string {
  try {
    return isolated(languageNames.of(code) ?? code)
  } catch {
    return code
  }
}

/**
 * Puts a text with right-to-left characters between the Unicode characters FSI and PDI. Such a text otherwise changes
 * the order of the English text and the numbers beside it.
 */
function isolated(text: string): string {
  return /[\u0590-\u08ff\u200f]/.test(text) ? `\u2068${text}\u2069` : text
}

function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0
  } catch {
    return false
  }
}
