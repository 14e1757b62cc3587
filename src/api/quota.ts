// Rate limits as headers.

import { ApiError } from '../errors.ts'
import { limits, type RateName } from '../limits.ts'
import type { Quota, RateLimiter } from './rate-limit.ts'

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
