// The workers of a server: the present ones, which send `hello` messages, and the ones that the server remembers for
// some time.

import { limits } from '../limits.ts'
import { type Pool, poolOf } from './pools.ts'
import { type Hello, protocol } from './requests.ts'

export type KnownWorker = Hello & {
  /** The id of the worker: its name and its session, as `workerId` joins them. */
  id: string
  name: string
  pool: string
  /**
   * The time of the worker's last `hello`: `heardAt` by the monotonic clock, `seenAt` by the wall clock. After an
   * outage of NATS, `heardAt` is the end of the outage, until the next `hello`.
   */
  heardAt: number
  seenAt: number
  /** The reason why the server refuses this worker. Null if the server accepts it. */
  refusal: string | null
}

const rememberedFields = [
  'name',
  'pool',
  'seenAt',
  'version',
  'device',
  'slots',
  'model',
  'languages',
  'translates',
  'diarization',
  'speed',
] as const

/**
 * A worker that the server remembers for some time, also after a restart of the server. The state is that of the last
 * `hello` message in which the worker was ready. A `hello` of a worker that the server refused does not count.
 */
export type RememberedWorker = Pick<KnownWorker, (typeof rememberedFields)[number]>

export type Clocks = {
  /** Reads the monotonic clock, which measures how long a worker is silent. */
  uptime: () => number
  /** Reads the wall clock. */
  wall: () => number
}

export class Roster {
  readonly #workers = new Map<string, KnownWorker>()
  /** The keys are the names of the workers. */
  readonly #remembered: Map<string, RememberedWorker>
  readonly #leaseMs: number
  readonly #clocks: Clocks

  constructor(leaseMs: number, clocks: Clocks, remembered: readonly RememberedWorker[]) {
    this.#leaseMs = leaseMs
    this.#clocks = clocks
    this.#remembered = new Map(remembered.map(worker => [worker.name, worker]))
  }

  /**
   * Stores the state that a worker reports in a `hello` message. Returns the new state as `worker`. `before` is the
   * previous state, or null if the worker is new or was silent. Returns null if `workersOfNameMax` other workers
   * already have this name. This limit protects the memory against an attacker with the credentials of a worker.
   */
  note(name: string, hello: Hello): { worker: KnownWorker; before: KnownWorker | null } | null {
    const id = workerId(name, hello.session)
    const known = this.find(id)
    const before = known && !this.#isSilent(known) ? known : null
    if (!before && this.#isFull(name)) return null
    const worker = {
      ...hello,
      id,
      name,
      pool: poolOf(hello),
      heardAt: this.#clocks.uptime(),
      seenAt: this.#clocks.wall(),
      refusal: refusalOf(hello),
    }
    this.#workers.set(id, worker)
    if (isWorking(worker)) this.#remembered.set(name, memoryOf(worker))
    return { worker, before }
  }

  /**
   * Restarts the lease (the allowed silence) of each worker. Called after a time in which no worker could send a
   * message.
   */
  hearAll(): void {
    for (const worker of this.#workers.values()) worker.heardAt = this.#clocks.uptime()
  }

  /** Removes and returns the workers whose silence is longer than the lease. */
  dropSilent(): KnownWorker[] {
    const silent = [...this.#workers.values()].filter(worker => this.#isSilent(worker))
    for (const { id } of silent) this.#workers.delete(id)
    return silent
  }

  /**
   * Finds a worker by its id. The last `hello` message of the worker may be older than the lease (the allowed silence).
   */
  find(id: string): KnownWorker | null {
    return this.#workers.get(id) ?? null
  }

  /** Returns the workers that are not silent: their last `hello` is not older than the lease (the allowed silence). */
  all(): KnownWorker[] {
    return [...this.#workers.values()].filter(worker => !this.#isSilent(worker))
  }

  /** Returns the workers that were ready within the last `workerRememberedMs`, and forgets all others. */
  remembered(): RememberedWorker[] {
    const oldest = this.#clocks.wall() - limits.workerRememberedMs
    for (const { name, seenAt } of this.#remembered.values())
      if (seenAt < oldest) this.#remembered.delete(name)
    return [...this.#remembered.values()]
  }

  /**
   * Returns the workers that were ready within the last `workerRememberedMs`, if no worker of the same pool is ready
   * now. The workers of a pool have the same abilities, so they can replace each other.
   */
  away(): RememberedWorker[] {
    const pools = new Set(this.working().map(({ pool }) => pool))
    return this.remembered().filter(({ pool }) => !pools.has(pool))
  }

  /** Returns the workers that are ready and that the server has not refused. */
  working(): KnownWorker[] {
    return this.all().filter(isWorking)
  }

  pools(): Pool[] {
    const pools = new Map<string, Pool>()
    for (const worker of this.working()) {
      const pool = pools.get(worker.pool)
      if (pool) pool.slots += worker.slots
      else pools.set(worker.pool, { name: worker.pool, slots: worker.slots, abilities: worker })
    }
    return [...pools.values()]
  }

  #isFull(name: string): boolean {
    return this.all().filter(worker => worker.name === name).length >= limits.workersOfNameMax
  }

  #isSilent({ heardAt }: KnownWorker): boolean {
    return this.#clocks.uptime() - heardAt > this.#leaseMs
  }
}

function isWorking({ ready, refusal }: KnownWorker): boolean {
  return ready && refusal === null
}

function memoryOf(worker: KnownWorker): RememberedWorker {
  return Object.fromEntries(rememberedFields.map(field => [field, worker[field]])) as RememberedWorker
}

export function workerId(name: string, session: string): string {
  return `${name}/${session}`
}

/** Returns the name of a worker from an id that `workerId` returned. */
export function workerName(id: string): string {
  return id.split('/')[0] ?? id
}

function refusalOf({ protocol: spoken, version }: Hello): string | null {
  if (spoken === protocol) return null
  return `the worker has version ${version} with protocol ${spoken}, and the server has protocol ${protocol}: install the version of the server`
}
