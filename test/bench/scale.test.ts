// Tests parts of scripts/scale, which simulates the load of a server during one year.

import { expect, test } from 'bun:test'
import { arrivals } from '../../scripts/scale/arrivals.ts'
import { hour, load, year } from '../../scripts/scale/assumptions.ts'
import { openHeap } from '../../scripts/scale/heap.ts'
import { openHistogram } from '../../scripts/scale/histogram.ts'
import { openPool, order, remove } from '../../scripts/scale/pool.ts'
import { seeded } from '../support/random.ts'

test('the heap gives its entries in the order of their times', () => {
  const random = seeded(1)
  const heap = openHeap<{ at: number }>()
  const times = Array.from({ length: 1000 }, () => random.below(500))
  const given: number[] = []
  for (const at of times) {
    heap.push({ at })
    if (at % 3 === 0) given.push(heap.pop()?.at ?? -1)
  }
  const left = times.length - given.length
  const rest = Array.from({ length: left }, () => heap.pop()?.at ?? -1)
  expect(rest).toEqual(rest.toSorted((one, other) => one - other))
  const all = [...given, ...rest].toSorted((one, other) => one - other)
  expect(all).toEqual(times.toSorted((one, other) => one - other))
  expect(heap.pop()).toBeUndefined()
})

test('a quantile of the histogram is at most 5 % too large', () => {
  const histogram = openHistogram()
  for (let seconds = 1; seconds <= 1000; seconds++) histogram.add(seconds)
  for (const share of [0.5, 0.95, 0.99]) {
    const ratio = histogram.quantile(share) / (1000 * share)
    expect(ratio).toBeGreaterThanOrEqual(1)
    expect(ratio).toBeLessThan(1.051)
  }
  expect(histogram.longest()).toBe(1000)
  expect(openHistogram().quantile(0.5)).toBe(0)
})

test('the arrivals have the assumed mean length and, apart from bursts, the assumed hours of audio', () => {
  let last = 0
  let seconds = 0
  let count = 0
  const weeks = 4
  for (const arrival of arrivals(seeded(3))) {
    if (arrival.at > (weeks * year) / 52) break
    if (arrival.at < last) throw new Error('the arrivals are not in order')
    last = arrival.at
    seconds += arrival.seconds
    count += 1
  }
  const expected = (load.hoursPerMonth * 12 * weeks) / 52 / load.servers
  expect(seconds / hour / expected).toBeGreaterThan(0.97)
  expect(seconds / hour / expected).toBeLessThan(1.15)
  expect(seconds / count / load.meanSeconds).toBeCloseTo(1, 1)
})

test('a GPU is paid from its order to its removal, and a removed GPU returns its job once', () => {
  const pool = openPool()
  order(pool, 'spot', 100, { random: seeded(1), later: () => {} })
  const [gpu] = pool.all
  if (!gpu) throw new Error('no GPU was ordered')
  gpu.job = { arrivedAt: 0, seconds: 60, attempts: 1 }
  expect(remove(pool, gpu, 400)).toMatchObject({ seconds: 60 })
  expect(remove(pool, gpu, 500)).toBeNull()
  expect(pool.seconds).toEqual({ reserved: 0, spot: 300, onDemand: 0 })
  expect(pool.all.size).toBe(0)
})
