import { expect, test } from 'bun:test'
import { refusal } from '../../src/api/gate/quota-answer.ts'
import { openRateLimiter } from '../../src/api/gate/rate-limit.ts'
import { limits, rates } from '../../src/limits.ts'
import { defaults } from '../support/defaults.ts'

test('a clock with fractions of a millisecond never makes the window longer than it is', () => {
  // At this time of the clock, floating point has a rounding error: 38437.558457748986 + 60000 - 38437.558457748986 is
  // more than 60000.
  const quota = openRateLimiter(defaults.rateLimits, () => 38437.558457748986).take('balance.get', 'ana')
  expect(quota?.resetInMs).toBe(limits.rateWindowMs)
})

test('a quota is full again after the time that its refusal names', () => {
  let nowMs = 0
  const limiter = openRateLimiter({ ...rates, 'balance.get': 2 }, () => nowMs)
  const take = () => limiter.take('balance.get', 'ana')
  for (let window = 0; window < 3; window++) {
    const quotas = [take(), take(), take()]
    expect(quotas.map(quota => quota?.allowed)).toEqual([true, true, false])
    nowMs += quotas[2]?.retryInMs ?? 0
    limiter.sweep()
  }
  expect(nowMs).toBe(3 * limits.rateWindowMs)
})

test('Retry-After is rounded up to whole seconds', () => {
  const seconds = [1, 1000, 1001].map(retryInMs => {
    const quota = { allowed: false, limit: 1, remaining: 0, resetInMs: retryInMs, retryInMs }
    return refusal(quota).headers['Retry-After']
  })
  expect(seconds).toEqual(['1', '1', '2'])
})
