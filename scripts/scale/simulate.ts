// Simulates one server and its GPU workers over a year, event by event. Every single recording and every single GPU is
// simulated.

import { type Random, seeded } from '../../test/support/random.ts'
import { type Arrival, arrivals, exponential } from './arrivals.ts'
import { day, gpu as facts, hour, scaler, year } from './assumptions.ts'
import { type Heap, openHeap } from './heap.ts'
import { type Histogram, openHistogram } from './histogram.ts'
import { type Gpu, type Job, needed, openPool, order, type Pool, remove, surplus } from './pool.ts'

type Event = { at: number } & (
  | { kind: 'booted' | 'vanish'; gpu: Gpu }
  | { kind: 'done'; gpu: Gpu; run: number }
  | { kind: 'again'; job: Job }
  | { kind: 'minute' | 'outage' | 'outage ends' }
)

/**
 * One hour of the simulated year. `busy` is the number of GPUs that the audio of this hour needs without idle time.
 * Once a minute, the simulation counts the GPUs that were ordered and are not yet removed. `ordered` is the highest of
 * these counts in this hour.
 */
type HourOfYear = { busy: number; ordered: number }

export type Result = {
  jobs: number
  audioSeconds: number
  failed: number
  begunAgain: number
  waits: Histogram
  /** The waiting times of the jobs, one histogram for each day of the year. */
  days: Histogram[]
  hours: HourOfYear[]
  gpusMax: number
  peak: { jobsPerSecond: number; audioPerSecond: number }
  pool: Pool
}

type World = Result & {
  random: Random
  events: Heap<Event>
  /** Jobs whose GPU was withdrawn. They are started before the jobs in `waiting`. */
  again: Job[]
  waiting: Job[]
  /** The index of the first job in `waiting` that is still in the queue. */
  head: number
  queuedSeconds: number
  minute: { jobs: number; audioSeconds: number }
}

export function simulate(seed: number): Result {
  const random = seeded(seed)
  const world = openWorld(random)
  const { events } = world
  for (let count = 0; count < facts.reserved; count++) orderGpu(world, 'reserved', 0)
  events.push({ at: scaler.everySeconds, kind: 'minute' })
  events.push({ at: nextOutage(random, 0), kind: 'outage' })
  for (const arrival of arrivals(random)) {
    runUntil(world, arrival.at)
    arrive(world, arrival)
  }
  runUntil(world, year)
  for (const gpu of world.pool.all) remove(world.pool, gpu, year)
  return world
}

function openWorld(random: Random): World {
  return {
    random,
    events: openHeap(),
    again: [],
    waiting: [],
    head: 0,
    queuedSeconds: 0,
    minute: { jobs: 0, audioSeconds: 0 },
    jobs: 0,
    audioSeconds: 0,
    failed: 0,
    begunAgain: 0,
    waits: openHistogram(),
    days: Array.from({ length: year / day }, openHistogram),
    hours: Array.from({ length: year / hour }, () => ({ busy: 0, ordered: 0 })),
    gpusMax: 0,
    peak: { jobsPerSecond: 0, audioPerSecond: 0 },
    pool: openPool(),
  }
}

function runUntil(world: World, end: number): void {
  for (let event = world.events.first(); event && event.at <= end; event = world.events.first()) {
    world.events.pop()
    happen(world, event)
  }
}

function arrive(world: World, { at, seconds }: Arrival): void {
  world.jobs += 1
  world.audioSeconds += seconds
  world.minute.jobs += 1
  world.minute.audioSeconds += seconds
  world.waiting.push({ arrivedAt: at, seconds, attempts: 0 })
  world.queuedSeconds += seconds
  handOut(world, at)
}

function happen(world: World, event: Event): void {
  const { pool, events, random } = world
  const { at } = event
  if (event.kind === 'done' && event.gpu.run === event.run) rest(world, event.gpu, at)
  else if (event.kind === 'booted' && event.gpu.state === 'booting') rest(world, event.gpu, at)
  else if (event.kind === 'vanish') vanish(world, event.gpu, at)
  else if (event.kind === 'again') {
    world.again.push(event.job)
    handOut(world, at)
  } else if (event.kind === 'minute') {
    scale(world, at)
    events.push({ at: at + scaler.everySeconds, kind: 'minute' })
  } else if (event.kind === 'outage') {
    for (const gpu of pool.all)
      if (gpu.kind === 'spot' && random.next() < facts.outageShare) vanish(world, gpu, at)
    pool.isOutage = true
    events.push({ at: at + exponential(random, facts.outageHoursMean * hour), kind: 'outage ends' })
  } else if (event.kind === 'outage ends') {
    pool.isOutage = false
    events.push({ at: nextOutage(random, at), kind: 'outage' })
  }
}

function nextOutage(random: Random, from: number): number {
  return from + exponential(random, year / 12 / facts.outagesPerMonth)
}

function orderGpu({ pool, random, events }: World, kind: Gpu['kind'], now: number): void {
  const later = (at: number, what: 'booted' | 'vanish', gpu: Gpu) => events.push({ at, kind: what, gpu })
  order(pool, kind, now, { random, later })
}

/** Makes a GPU idle. Then starts waiting jobs on the idle GPUs. */
function rest(world: World, gpu: Gpu, now: number): void {
  gpu.state = 'idle'
  gpu.job = null
  world.pool.idle.push(gpu)
  handOut(world, now)
}

/**
 * Withdraws a GPU. Its job fails if it has had `attemptsMax` attempts. Otherwise, the job waits for `leaseSeconds`:
 * after this time, a server notices that a worker is gone.
 */
function vanish(world: World, gpu: Gpu, now: number): void {
  if (gpu.state === 'gone') return
  world.pool.vanished += 1
  const job = remove(world.pool, gpu, now)
  if (!job) return
  if (job.attempts >= facts.attemptsMax) {
    world.failed += 1
    return
  }
  world.begunAgain += 1
  world.queuedSeconds += job.seconds
  world.events.push({ at: now + facts.leaseSeconds, kind: 'again', job })
}

function handOut(world: World, now: number): void {
  const { pool } = world
  while (pool.idle.length > 0) {
    const gpu = pool.idle.at(-1)
    if (gpu?.state !== 'idle') {
      pool.idle.pop()
      continue
    }
    const job = world.again.shift() ?? world.waiting[world.head]
    if (!job) return
    pool.idle.pop()
    if (job.attempts === 0) take(world, job, now)
    world.queuedSeconds -= job.seconds
    job.attempts += 1
    gpu.state = 'busy'
    gpu.job = job
    gpu.run += 1
    const busySeconds = facts.jobSeconds + job.seconds / facts.secondsOfAudioPerSecond
    world.events.push({ at: now + busySeconds, kind: 'done', gpu, run: gpu.run })
  }
}

/** Removes `job`, the first job in `world.waiting`, and adds its waiting time to the histograms. */
function take(world: World, job: Job, now: number): void {
  world.head += 1
  // A job that has left the queue stays in the array, before the index `head`, because to remove each job at once would
  // be slow. All of them are removed together when they are more than 10,000 and more than half of the array.
  if (world.head > 10_000 && world.head > world.waiting.length / 2) {
    world.waiting = world.waiting.slice(world.head)
    world.head = 0
  }
  const waited = now - job.arrivedAt
  world.waits.add(waited)
  world.days[Math.floor(job.arrivedAt / day)]?.add(waited)
}

/** Called once a simulated minute: orders or stops GPUs, and stores the statistics of the last minute. */
function scale(world: World, now: number): void {
  const { pool, minute, peak } = world
  const load = minute.audioSeconds / scaler.everySeconds
  pool.load += scaler.newestWeight * (load - pool.load)
  peak.audioPerSecond = Math.max(peak.audioPerSecond, load)
  peak.jobsPerSecond = Math.max(peak.jobsPerSecond, minute.jobs / scaler.everySeconds)
  world.minute = { jobs: 0, audioSeconds: 0 }

  const wanted = needed(pool, world.queuedSeconds)
  while (pool.all.size < wanted) orderGpu(world, pool.isOutage ? 'onDemand' : 'spot', now)
  for (const gpu of surplus(pool, wanted, now)) remove(pool, gpu, now)
  world.gpusMax = Math.max(world.gpusMax, pool.all.size)

  const ofYear = world.hours[Math.floor((now - 1) / hour)]
  if (!ofYear) return
  ofYear.busy += (load / facts.secondsOfAudioPerSecond) * (scaler.everySeconds / hour)
  ofYear.ordered = Math.max(ofYear.ordered, pool.all.size)
}
