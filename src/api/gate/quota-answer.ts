// Makes the response headers about rate limits, and the error for an exceeded rate limit.

import { ApiError } from '../../errors.ts'
import { limits, type RateName } from '../../limits.ts'
import type { Quota, RateLimiter } from './rate-limit.ts'

const windowSeconds = limits.rateWindowMs / 1000

/**
 * The response headers about the quota of a route. A response with the error code NOT_FOUND or METHOD_NOT_ALLOWED lacks
 * them, because no route has the path and method of the request.
 */
export const endpointHeaders = [
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const

/**
 * Returns the response headers about the quotas, or no headers if rate limits are off. `rate` is null for a route
 * without a quota of its own. `counted` is given after the quota of the route was checked. The headers
 * `X-RateLimit-Remaining` and `X-RateLimit-Reset` are then added: the number of remaining requests, and the time of the
 * reset. If the request has an accepted credential (`keyed`), the header `RateLimit` has these two facts too.
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
  const seconds = Math.ceil(retryInMs / 1000)
  return new ApiError('RATE_LIMIT_EXCEEDED', undefined, { 'Retry-After': `${seconds}` })
}
