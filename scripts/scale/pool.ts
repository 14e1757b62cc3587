// The GPUs that one simulated server rents from a cloud provider, and their cost. A GPU is removed when the provider
// withdraws it, or when it is no longer needed.

import type { Random } from '../../test/support/random.ts'
import { exponential } from './arrivals.ts'
import { gpu as facts, hour, scaler } from './assumptions.ts'

export type Kind = 'reserved' | 'spot' | 'onDemand'
export const kinds: Kind[] = ['reserved', 'spot', 'onDemand']

export type Job = { arrivedAt: number; seconds: number; attempts: number }

/**
 * A simulated GPU. `run` grows by 1 when the GPU starts a job, and when the GPU is removed. The event for the end of a
 * job has the value of `run` from the start of the job. A different `run` means that the GPU no longer works on this
 * job, and the event is ignored.
 */
export type Gpu = {
  kind: Kind
  since: number
  state: 'booting' | 'idle' | 'busy' | 'gone'
  job: Job | null
  run: number
}

export type Pool = {
  all: Set<Gpu>
  idle: Gpu[]
  seconds: Record<Kind, number>
  vanished: number
  /** True during an outage, in which no spot GPU can be ordered. */
  isOutage: boolean
  /** The moving average of the load: seconds of audio that arrive per second. */
  load: number
  surplusSince: number | null
}

export function openPool(): Pool {
  return {
    all: new Set(),
    idle: [],
    seconds: { reserved: 0, spot: 0, onDemand: 0 },
    vanished: 0,
    isOutage: false,
    load: 0,
    surplusSince: null,
  }
}

/**
 * Orders a GPU. Plans the event `booted` for the time at which the GPU is ready. For a spot GPU, also plans the event
 * `vanish`, with which the provider withdraws the GPU. `later` adds an event at the time `at` to the simulation.
 */
export function order(
  pool: Pool,
  kind: Kind,
  now: number,
  { random, later }: { random: Random; later: (at: number, kind: 'booted' | 'vanish', gpu: Gpu) => void },
): void {
  const gpu: Gpu = { kind, since: now, state: 'booting', job: null, run: 0 }
  pool.all.add(gpu)
  later(now + facts.bootSeconds, 'booted', gpu)
  if (kind === 'spot') later(now + exponential(random, facts.spotLifeSeconds), 'vanish', gpu)
}

/** Removes a GPU from the pool. Returns the job of the GPU, or null if it had none. */
export function remove(pool: Pool, gpu: Gpu, now: number): Job | null {
  if (gpu.state === 'gone') return null
  const { job } = gpu
  pool.seconds[gpu.kind] += now - gpu.since
  pool.all.delete(gpu)
  gpu.state = 'gone'
  gpu.job = null
  gpu.run += 1
  return job
}

/**
 * Returns the number of GPUs that the average load and the jobs in the queue need. It is at least the number of
 * reserved GPUs.
 */
export function needed(pool: Pool, queuedSeconds: number): number {
  const speed = facts.secondsOfAudioPerSecond
  const steady = pool.load / speed / scaler.busyShare
  const backlog = queuedSeconds / speed / scaler.drainSeconds
  return Math.max(facts.reserved, Math.ceil(steady + backlog))
}

/**
 * Returns the idle GPUs to stop, on-demand GPUs before the cheaper spot GPUs. Reserved GPUs are never stopped. Returns
 * an empty list until there have been more than `wanted` GPUs for `surplusSeconds`.
 */
export function surplus(pool: Pool, wanted: number, now: number): Gpu[] {
  const excess = pool.all.size - wanted
  if (excess <= 0) {
    pool.surplusSince = null
    return []
  }
  pool.surplusSince ??= now
  if (now - pool.surplusSince < scaler.surplusSeconds) return []
  const idle = [...pool.all].filter(({ state, kind }) => state === 'idle' && kind !== 'reserved')
  return idle.toSorted((one, other) => kinds.indexOf(other.kind) - kinds.indexOf(one.kind)).slice(0, excess)
}

export function dollars({ seconds }: Pool): number {
  return kinds.reduce((sum, kind) => sum + (seconds[kind] / hour) * facts.dollarsPerHour[kind], 0)
}
