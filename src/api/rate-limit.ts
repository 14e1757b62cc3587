// Rate limits: a sliding window of one minute per caller, and its response headers.

import type { RateLimits } from '../config.ts'
import type { Clock } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { limits, type RateName } from '../limits.ts'

export type Quota = {
  allowed: boolean
  limit: number
  remaining: number
  /** Time until the newest counted request leaves the window, and the full quota is available again. */
  resetInMs: number
  /** Time until the oldest counted request leaves the window, and one more request is allowed. */
  retryInMs: number
}

export type RateLimiter = {
  /** Returns null when rate limits are off. */
  limitOf(name: RateName): number | null
  /** Counts a request if the quota allows it. Returns null when rate limits are off. */
  take(name: RateName, who: string): Quota | null
  /** Removes the newest request of the caller, because another check refused it. */
  giveBack(name: RateName, who: string): void
  /** Removes callers that have no request in the window. */
  sweep(): void
}

/** The times of counted requests, oldest first. Those before the index `head` have expired. */
type Window = { times: number[]; head: number }

/** Uses a monotonic clock. A step of the wall clock would block callers, or reset their quota. */
export function openRateLimiter(rateLimits: RateLimits, monotonic: Clock): RateLimiter {
  // Whole milliseconds: sums of fractions are inexact, and a window of 60.0000001 s would be shown as 61 s.
  const clock = () => Math.floor(monotonic())
  const windows = new Map<string, Window>()

  function windowOf(name: RateName, who: string): Window {
    const id = `${name} ${who}`
    const known = windows.get(id)
    if (known) return known
    const made = { times: [], head: 0 }
    windows.set(id, made)
    return made
  }

  return {
    limitOf: name => (rateLimits === 'off' ? null : rateLimits[name]),
    take(name, who) {
      if (rateLimits === 'off') return null
      const limit = rateLimits[name]
      const window = windowOf(name, who)
      const now = clock()
      dropOld(window, now)
      const allowed = count(window) < limit
      if (allowed) window.times.push(now)
      return {
        allowed,
        limit,
        remaining: Math.max(0, limit - count(window)),
        resetInMs: (window.times.at(-1) ?? now) + limits.rateWindowMs - now,
        retryInMs: (window.times[window.head] ?? now) + limits.rateWindowMs - now,
      }
    },
    giveBack: (name, who) => void windowOf(name, who).times.pop(),
    sweep() {
      const now = clock()
      for (const [id, window] of windows) {
        dropOld(window, now)
        if (count(window) === 0) windows.delete(id)
      }
    },
  }
}

function count(window: Window): number {
  return window.times.length - window.head
}

/** Removes expired times in batches: amortised constant cost. */
function dropOld(window: Window, now: number): void {
  while ((window.times[window.head] ?? now) <= now - limits.rateWindowMs) window.head += 1
  if (window.head * 2 > window.times.length) {
    window.times.splice(0, window.head)
    window.head = 0
  }
}

const windowSeconds = limits.rateWindowMs / 1000

/**
 * Returns the quota headers. The remaining quota is shown only for a counted request, and `RateLimit` only for one with
 * a key.
 */
export function quotaHeaders(
  rateLimiter: RateLimiter,
  rate: RateName | null,
  counted?: { quota: Quota; now: number; keyed: boolean },
): Record<string, string> {
  const perIp = rateLimiter.limitOf('ip')
  if (perIp === null) return {}
  const ipPolicy = `"ip";q=${perIp};w=${windowSeconds}`
  const limit = rate === null ? null : rateLimiter.limitOf(rate)
  if (limit === null) return { 'RateLimit-Policy': ipPolicy }
  const headers: Record<string, string> = {
    'RateLimit-Policy': `"endpoint";q=${limit};w=${windowSeconds}, ${ipPolicy}`,
    'X-RateLimit-Limit': `${limit}`,
  }
  if (!counted) return headers
  const { quota, now, keyed } = counted
  headers['X-RateLimit-Remaining'] = `${quota.remaining}`
  headers['X-RateLimit-Reset'] = `${Math.ceil((now + quota.resetInMs) / 1000)}`
  if (keyed) headers.RateLimit = `"endpoint";r=${quota.remaining};t=${Math.ceil(quota.resetInMs / 1000)}`
  return headers
}

export function refusal({ retryInMs }: Quota): ApiError {
  const seconds = Math.max(1, Math.ceil(retryInMs / 1000))
  return new ApiError('RATE_LIMIT_EXCEEDED', undefined, { 'Retry-After': `${seconds}` })
}
