// Rate limits: a sliding window of one minute per caller, and the headers that tell of it.

import type { RateLimits } from '../config.ts'
import type { Clock } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { limits, type RateName } from '../limits.ts'

export type Quota = {
  allowed: boolean
  limit: number
  remaining: number
  /** When the newest counted request leaves the window, and with it all of them. */
  resetAtMs: number
  /** When the oldest does: the first moment at which one more is allowed. */
  retryAtMs: number
}

export type RateLimiter = {
  /** Null when nothing is limited. */
  limitOf(name: RateName): number | null
  /** Counts a request if there is room for it. */
  take(name: RateName, who: string): Quota | null
  /** The request just counted was refused after all. */
  giveBack(name: RateName, who: string): void
  /** Forgets callers that have been quiet for a window. */
  sweep(): void
}

/** Times of counted requests, oldest first, from `head` on. */
type Window = { times: number[]; head: number }

export function openRateLimiter(rateLimits: RateLimits, clock: Clock): RateLimiter {
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
        resetAtMs: (window.times.at(-1) ?? now) + limits.rateWindowMs,
        retryAtMs: (window.times[window.head] ?? now) + limits.rateWindowMs,
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

/** Expired times are removed in batches: amortised constant cost. */
function dropOld(window: Window, now: number): void {
  while (window.head < window.times.length && window.times[window.head]! <= now - limits.rateWindowMs) {
    window.head += 1
  }
  if (window.head * 2 > window.times.length) {
    window.times.splice(0, window.head)
    window.head = 0
  }
}

const windowSeconds = limits.rateWindowMs / 1000

/** The policy always; what is left of it only once a request was counted, `RateLimit` only for a key. */
export function quotaHeaders(
  rateLimiter: RateLimiter,
  rate: RateName | null,
  counted?: { quota: Quota; now: number; keyed: boolean },
): Record<string, string> {
  const perIp = rateLimiter.limitOf('ip')
  if (perIp === null) return {}
  const ipPolicy = `"ip";q=${perIp};w=${windowSeconds}`
  if (rate === null) return { 'RateLimit-Policy': ipPolicy }
  const limit = rateLimiter.limitOf(rate)!
  const headers: Record<string, string> = {
    'RateLimit-Policy': `"endpoint";q=${limit};w=${windowSeconds}, ${ipPolicy}`,
    'X-RateLimit-Limit': `${limit}`,
  }
  if (!counted) return headers
  const { quota, now, keyed } = counted
  headers['X-RateLimit-Remaining'] = `${quota.remaining}`
  headers['X-RateLimit-Reset'] = `${Math.ceil(quota.resetAtMs / 1000)}`
  if (keyed) headers.RateLimit = `"endpoint";r=${quota.remaining};t=${secondsUntil(quota.resetAtMs, now)}`
  return headers
}

export function refusal(quota: Quota, now: number): ApiError {
  return new ApiError('RATE_LIMIT_EXCEEDED', undefined, {
    'Retry-After': `${Math.max(1, secondsUntil(quota.retryAtMs, now))}`,
  })
}

function secondsUntil(atMs: number, now: number): number {
  return Math.max(0, Math.ceil((atMs - now) / 1000))
}
