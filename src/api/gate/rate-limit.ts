// Rate limits. Each limit, except `events.open`, counts the requests of each caller in a sliding window of one minute.

import type { Clock } from '../../db/db.ts'
import { limits, type RateName } from '../../limits.ts'
import type { RateLimits } from '../../setting-values.ts'

export type Quota = {
  allowed: boolean
  limit: number
  remaining: number
  /**
   * The time, in milliseconds, until the full quota is available: all counted requests have then left the sliding
   * window (the last minute).
   */
  resetInMs: number
  /**
   * The time, in milliseconds, until the oldest counted request has left the sliding window. After a refusal, at least
   * one request is then allowed.
   */
  retryInMs: number
}

export type RateLimiter = {
  /**
   * Returns the rate limit `name` in requests per minute, or null if rate limits are off. The limit `events.open` is
   * the maximum number of open event streams.
   */
  limitOf(name: RateName): number | null
  /**
   * Counts a request of the caller `who` if the quota allows it. Returns the state of the quota, or null if rate limits
   * are off. `who` is for example an IP address or the id of a key.
   */
  take(name: RateName, who: string): Quota | null
  /** Removes the last request of the caller `who` from the count, because another quota has refused it. */
  giveBack(name: RateName, who: string): void
  /** Forgets the callers that have no request in the last minute. */
  sweep(): void
}

/**
 * The times, in milliseconds, of one caller's counted requests, oldest first. Times before the index `head` are older
 * than the sliding window.
 */
type Window = { times: number[]; head: number }

/**
 * Makes a rate limiter. The clock must be monotonic: a change of the wall clock would block callers or reset their
 * quotas.
 */
export function openRateLimiter(rateLimits: RateLimits, monotonic: Clock): RateLimiter {
  // Whole milliseconds, because sums of fractions are inexact: a wait of 60.0000001 s would be shown as 61 s.
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

/**
 * Moves `head` past the times that are older than the sliding window. Deletes these times only when they are more than
 * half of the array, so the amortised cost of a request is constant.
 */
function dropOld(window: Window, now: number): void {
  while ((window.times[window.head] ?? now) <= now - limits.rateWindowMs) window.head += 1
  if (window.head * 2 > window.times.length) {
    window.times.splice(0, window.head)
    window.head = 0
  }
}
