// The recordings that arrive at one server, as a Poisson process. Its rate depends on the hour, on the weekday, and on
// bursts of load.

import type { Random } from '../../test/support/random.ts'
import { day, hour, load, week, year } from './assumptions.ts'

export type Arrival = { at: number; seconds: number }

type Burst = { from: number; to: number; factor: number }

const monthSeconds = year / 12
const averageOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const hourAverage = averageOf(load.byHour)
const dayAverage = averageOf(load.byDay)
const spread = Math.sqrt(2 * Math.log(load.meanSeconds / load.medianSeconds))

/** Returns a random number from an exponential distribution with this mean. */
export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random.next())
}

/** Yields the recordings that arrive at the server in a year, in order of time. */
export function* arrivals(random: Random): Generator<Arrival> {
  const bursts = makeBursts(random)
  const meanSeconds = meanOfLengths(random)
  const perSecond = (load.hoursPerMonth * hour) / meanSeconds / load.servers / monthSeconds
  // The rate is constant within a minute. The time to the first arrival of a minute is drawn anew, which is correct
  // because a Poisson process has no memory.
  for (let from = 0; from < year; from += 60) {
    const rate = perSecond * loadAt(from, bursts)
    for (let at = from + exponential(random, 1 / rate); at < from + 60; at += exponential(random, 1 / rate))
      yield { at, seconds: lengthOf(random) }
  }
}

function makeBursts(random: Random): Burst[] {
  const bursts: Burst[] = []
  const pause = () => exponential(random, monthSeconds / load.burstsPerMonth)
  for (let from = pause(); from < year; from += pause())
    bursts.push({
      from,
      to: from + exponential(random, load.burstHoursMean * hour),
      factor: 1 + random.next() * (load.burstFactorMax - 1),
    })
  return bursts
}

function loadAt(at: number, bursts: readonly Burst[]): number {
  const ofHour = (load.byHour[Math.floor((at % day) / hour)] ?? 1) / hourAverage
  const ofDay = (load.byDay[Math.floor((at % week) / day)] ?? 1) / dayAverage
  const ofBurst = Math.max(
    1,
    ...bursts.filter(({ from, to }) => from <= at && at < to).map(({ factor }) => factor),
  )
  return ofHour * ofDay * ofBurst
}

function lengthOf(random: Random): number {
  // A random number with a normal distribution. The Box-Muller method makes it from two uniform random numbers.
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
  return Math.min(load.longestSeconds, Math.max(1, load.medianSeconds * Math.exp(spread * normal)))
}

/**
 * Returns the mean length of a recording in seconds. It is a little below `load.meanSeconds`, because no recording is
 * longer than `load.longestSeconds`.
 */
function meanOfLengths(random: Random): number {
  return averageOf(Array.from({ length: 200_000 }, () => lengthOf(random)))
}
