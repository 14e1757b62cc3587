// The workers that have sent a message `hello` to this server.

import { type Pool, poolOf } from './pools.ts'
import { type Hello, protocol } from './requests.ts'

export type KnownWorker = Hello & {
  /** The id of the worker: its name and its session, as `workerId` joins them. */
  id: string
  name: string
  pool: string
  /**
   * The time of the last message `hello` from this worker. `heardAt` is by the monotonic clock, and `seenAt` by the
   * wall clock.
   */
  heardAt: number
  seenAt: number
  /** The reason why the server gives no jobs to this worker. Null if the server gives jobs to it. */
  refusal: string | null
}

export class Roster {
  readonly #workers = new Map<string, KnownWorker>()
  readonly #leaseMs: number

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs
  }

  /**
   * Stores a `hello` message, in which a worker reports its state and its abilities. Returns the stored state as
   * `worker`, and the state before this message as `before`. For a new worker, `before` is null.
   */
  note(
    name: string,
    hello: Hello,
    { now, wall }: { now: number; wall: number },
  ): { worker: KnownWorker; before: KnownWorker | null } {
    const id = workerId(name, hello.session)
    const before = this.#workers.get(id) ?? null
    const worker = {
      ...hello,
      id,
      name,
      pool: poolOf(hello),
      heardAt: now,
      seenAt: wall,
      refusal: refusalOf(hello),
    }
    this.#workers.set(id, worker)
    return { worker, before }
  }

  /** Removes and returns the workers whose last message `hello` is older than the lease. */
  dropSilent(now: number): KnownWorker[] {
    const silent = [...this.#workers.values()].filter(({ heardAt }) => now - heardAt > this.#leaseMs)
    for (const { id } of silent) this.#workers.delete(id)
    return silent
  }

  find(id: string): KnownWorker | null {
    return this.#workers.get(id) ?? null
  }

  all(): KnownWorker[] {
    return [...this.#workers.values()]
  }

  /** Returns the workers that are ready and that the server has not refused. */
  working(): KnownWorker[] {
    return this.all().filter(({ ready, refusal }) => ready && refusal === null)
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
