import { expect, test } from 'bun:test'
import { openRateLimiter } from '../../src/api/rate-limit.ts'
import { limits } from '../../src/limits.ts'
import { defaults } from '../support/defaults.ts'

test('a clock with fractions of a millisecond never makes the window longer than it is', () => {
  for (let at = 0.1; at < 1000; at += 0.7) {
    const quota = openRateLimiter(defaults.rateLimits, () => at).take('balance.get', 'ana')
    expect(quota?.resetInMs).toBe(limits.rateWindowMs)
  }
})
