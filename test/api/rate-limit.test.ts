import { expect, test } from 'bun:test'
import { openRateLimiter } from '../../src/api/gate/rate-limit.ts'
import { limits } from '../../src/limits.ts'
import { defaults } from '../support/defaults.ts'

test('a clock with fractions of a millisecond never makes the window longer than it is', () => {
  // At this time of the clock, floating point has a rounding error: 38437.558457748986 + 60000 - 38437.558457748986 is
  // more than 60000. The rate limiter must still return exactly 60000 ms.
  const quota = openRateLimiter(defaults.rateLimits, () => 38437.558457748986).take('balance.get', 'ana')
  expect(quota?.resetInMs).toBe(limits.rateWindowMs)
})
