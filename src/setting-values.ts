// Parsers for the values of settings. A parser throws an InvalidValue for an invalid value.

import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseDuration, parseSize } from './base/units.ts'
import { day } from './limits/units.ts'
import { type RateName, rates } from './limits.ts'
import { parseNets } from './net/nets.ts'

/** The error of a parser for an invalid value. Its message says what a valid value looks like. */
export class InvalidValue extends Error {}

export type RateLimits = Record<RateName, number> | 'off'

export function optional<T>(parse: (text: string) => T): (text: string) => T | null {
  return given => (given === '' ? null : parse(given))
}

export function text(given: string): string {
  return given
}

/** Parses a host name or an IP address. Removes the brackets of an IPv6 address: `[::1]` becomes `::1`. */
export function bareHost(given: string): string {
  const host = given.replace(/^\[(.*)\]$/, '$1')
  const url = `http://${host.includes(':') ? `[${host}]` : host}`
  if (/[/?#@\\]/.test(host) || !URL.canParse(url))
    throw new InvalidValue('a host name or an IP address is needed, without a port')
  return host
}

export function path(given: string): string {
  return resolve(given)
}

/** Parses the path of a program. The file must exist, and this user must be allowed to run it. */
export function program(given: string): string {
  const found = path(given)
  try {
    accessSync(found, constants.X_OK)
    if (statSync(found).isFile()) return found
  } catch {
    // The file is missing, or this user may not run it.
  }
  throw new InvalidValue('the path of an executable file is needed')
}

export function flag(given: string): boolean {
  if (given !== '0' && given !== '1') throw new InvalidValue('0 or 1 is needed')
  return given === '1'
}

export function onOrOff(given: string): boolean {
  if (given !== 'on' && given !== 'off') throw new InvalidValue('on or off is needed')
  return given === 'on'
}

export function whole(min: number, max: number): (text: string) => number {
  return given => {
    const number = /^\d+$/.test(given) ? Number(given) : Number.NaN
    if (!(number >= min && number <= max))
      throw new InvalidValue(`a whole number from ${min} to ${max} is needed`)
    return number
  }
}

export function oneOf<const Choice extends string>(...choices: Choice[]): (text: string) => Choice {
  return given => {
    const choice = choices.find(known => known === given)
    if (!choice) throw new InvalidValue(`one of ${choices.join(', ')} is needed`)
    return choice
  }
}

/** The maximum duration in days: about 2,700 years. JavaScript has no date for the end of a much longer duration. */
const daysMax = 1_000_000

/**
 * Parses a duration. If the caller also accepts other values, `other` names them, for example as `forever, or `. The
 * message for an invalid value then begins with this text.
 */
export function duration(given: string, other = ''): number {
  const ms = parseDuration(given)
  if (!ms) throw new InvalidValue(`${other}a duration such as 250ms, 2s, 30m, 24h or 7d is needed`)
  if (ms > daysMax * day) throw new InvalidValue(`a duration of at most ${daysMax}d is needed`)
  return ms
}

/** The maximum time of a JavaScript timer: about 25 days. A timer with a longer time would fire after a millisecond. */
const timerMsMax = 2 ** 31 - 1

/** Parses a duration for a timer. A duration above `timerMsMax` is lowered to `timerMsMax`. */
export function timerDuration(given: string): number {
  return Math.min(duration(given), timerMsMax)
}

export function durationOrZero(given: string): number {
  return given === '0' || parseDuration(given) === 0 ? 0 : duration(given, '0, or ')
}

/** Parses a duration. Returns null for `forever`. */
export function durationOrForever(given: string): number | null {
  return given === 'forever' ? null : duration(given, 'forever, or ')
}

/**
 * Parses an idle timeout from 1 s to 251 s, and rounds it up to whole seconds. Bun may close a connection up to 4 s too
 * early. The server therefore sets the timeout of Bun 4 s longer, and Bun allows at most 255 s.
 */
export function idleTime(given: string): number {
  const ms = parseDuration(given) ?? 0
  if (ms < 1000 || ms > 251_000) throw new InvalidValue('a duration from 1s to 251s is needed')
  return Math.ceil(ms / 1000) * 1000
}

export function size(given: string): number {
  const bytes = parseSize(given)
  if (!bytes) throw new InvalidValue('a size such as 100KB or 5GB is needed')
  return bytes
}

export function nets(given: string) {
  const parsed = parseNets(given)
  if (!parsed) throw new InvalidValue('addresses or CIDRs, separated by commas, are needed')
  return parsed
}

export function baseUrl(given: string): string {
  const url = URL.parse(given)
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
    throw new InvalidValue('an http or https address without query is needed')
  }
  return url.href.replace(/\/+$/, '')
}

/** Parses the address that callers see. It has no user name and no password, because it is in every link. */
export function publicUrl(given: string): string {
  const { username = '', password = '' } = URL.parse(given) ?? {}
  if (username !== '' || password !== '')
    throw new InvalidValue(
      'an address without user name and password is needed, because every caller sees it',
    )
  return baseUrl(given)
}

export function smtpUrl(given: string): string {
  const url = URL.parse(given)
  if (!url || !/^smtps?:$/.test(url.protocol) || url.host === '')
    throw new InvalidValue('smtp://HOST:PORT or smtps://HOST:PORT is needed')
  return given
}

/** Parses the sender of mails: an email address, or a name with an address in angle brackets. */
export function sender(given: string): string {
  if (!/^(?:[^<>]*<[^\s<>@,]+@[^\s<>@,]+>|[^\s<>@,]+@[^\s<>@,]+)$/.test(given))
    throw new InvalidValue('steno@example.org or Steno <steno@example.org> is needed')
  return given
}

export function natsAddress(given: string): string {
  const urls = given.split(',').map(one => URL.parse(one))
  const [first] = urls
  const fits = urls.every(url => url !== null && /^(nats|tls):$/.test(url.protocol) && url.host !== '')
  if (!first || !fits)
    throw new InvalidValue('nats://HOST:PORT or tls://HOST:PORT is needed, several with commas')
  // The NATS client uses TLS for all addresses or for none, so all addresses must have the same scheme. The client
  // signs in at every address with the user and password of the first address, so a later address must have no user, or
  // the same user and password.
  const userOf = ({ username, password }: URL) => `${username}:${password}`
  const isMixed = urls.some(
    url => url?.protocol !== first.protocol || (url.username !== '' && userOf(url) !== userOf(first)),
  )
  if (isMixed)
    throw new InvalidValue(
      'all addresses need the same scheme, and the user and password of the first one, or none',
    )
  return given
}

export function clusterName(given: string): string {
  if (!/^[\w-]{1,32}$/.test(given)) throw new InvalidValue('1 to 32 letters, digits, _ or - are needed')
  return given
}

export function lease(given: string): number {
  const ms = duration(given)
  if (ms < 1000 || ms > 3_600_000) throw new InvalidValue('a duration from 1s to 1h is needed')
  return ms
}

export function rateLimits(given: string): RateLimits {
  if (given === 'off') return 'off'
  if (given === 'on') return rates
  const rows = given.split(',').map(row => {
    const [, name = '', count = ''] = /^\s*([a-z.]+)\s*=\s*(\d+)\s*$/.exec(row) ?? []
    if (!Object.hasOwn(rates, name) || Number(count) < 1) {
      throw new InvalidValue(
        `on, off, or NAME=COUNT with a name of ${Object.keys(rates).join(', ')} is needed`,
      )
    }
    return [name, Number(count)]
  })
  return { ...rates, ...Object.fromEntries(rows) }
}
