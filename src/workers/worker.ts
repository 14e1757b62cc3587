// A worker on another machine than the server. It takes jobs from a stream of JetStream (the message queues of NATS),
// transcribes them with its engine, and delivers the results to the server. A worker has no data folder.

import { mkdirSync, rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { build } from '../base/build.ts'
import { errorFields, log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import type { Engine } from '../engine/engine.ts'
import { limits } from '../limits.ts'
import { beforeStop } from '../net/before-stop.ts'
import type { Hub } from '../net/hub.ts'
import { newSession } from './addresses.ts'
import type { HelloAnswer } from './answers.ts'
import { Assignment } from './assignment.ts'
import { intervalIn } from './beats.ts'
import { type NatsConnection, type NatsSettings, openNats } from './connection.ts'
import { type Delivery, pull } from './delivery.ts'
import { readStopOrder } from './orders.ts'
import { Outages } from './outages.ts'
import { poolOf } from './pools.ts'
import { type Hello, protocol } from './requests.ts'
import { Server } from './server.ts'
import { priorities, subjectsOf } from './subjects.ts'

export type WorkerSettings = NatsSettings & {
  cluster: string
  name: string
  /** The HTTP address of the server, without a slash at the end. */
  server: string
  /** The folder for the media of jobs. The worker empties this folder at its start, and removes it at its end. */
  folder: string
}

export class Worker {
  readonly #settings: WorkerSettings
  readonly #engine: Engine
  readonly #nats: NatsConnection
  readonly #outages: Outages
  readonly #server: Server
  readonly #session = newSession()
  readonly #assignments = new Map<string, Assignment>()
  readonly #draining = new AbortController()
  /** Resolves when the server first answers a message `hello` of this worker. */
  readonly #greeted = Promise.withResolvers<void>()
  #isGreeted = false
  readonly #loops: Promise<unknown>
  #pool: string | null = null
  #leaseMs = limits.workerHelloMs
  #speed: number | null = null
  /**
   * After an error of this machine, the worker takes no jobs for `#restMs` milliseconds, until `#restsUntil` (monotonic
   * clock).
   */
  #restMs = 0
  #restsUntil = 0
  #refusal: string | null = null

  private constructor(settings: WorkerSettings, engine: Engine, nats: NatsConnection) {
    this.#settings = settings
    this.#engine = engine
    this.#nats = nats
    this.#outages = new Outages(nats, () => this.#onBack())
    this.#server = new Server(nats, this.#outages, {
      cluster: settings.cluster,
      worker: settings.name,
      address: settings.server,
    })
    nats.subscribe(subjectsOf(settings.cluster).stop(settings.name), {
      callback: (error, message) => {
        if (error) {
          const advice = 'the name of the worker (--name) must be the name in the rights of its user at NATS'
          return log.error('orders to stop cannot be received', { advice, ...errorFields(error) })
        }
        this.#obey(message.data)
      },
    })
    engine.onReady(() => void this.#sayHello())
    const places = Array.from({ length: engine.capacity }, () => this.#takeJobs())
    this.#loops = Promise.all([this.#greet(), ...places])
  }

  /** Connects to NATS and starts the worker. While NATS is unreachable, retries until the signal is aborted. */
  static async open(settings: WorkerSettings, engine: Engine, signal: AbortSignal): Promise<Worker> {
    rmSync(settings.folder, { recursive: true, force: true })
    mkdirSync(settings.folder, { recursive: true, mode: 0o700 })
    const { cluster, name } = settings
    for (let logged = ''; ; ) {
      signal.throwIfAborted()
      try {
        const nats = await openNats(settings, { name, inboxPrefix: subjectsOf(cluster).inbox(name) })
        log.info('nats connected', { server: nats.getServer(), cluster, worker: name })
        return new Worker(settings, engine, nats)
      } catch (error) {
        const reason = reasonOf(error)
        if (reason !== logged) log.warn('nats cannot be reached', { reason })
        logged = reason
        await wait(limits.natsReconnectMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  /**
   * Returns the address and the token for model downloads from the server, which works like a mirror of Hugging Face.
   * First waits until the server knows this worker: for the answer to its first `hello`.
   */
  async modelHub(): Promise<Hub> {
    await this.#greeted.promise
    return await this.#server.modelHub()
  }

  /**
   * Ends the worker after its running jobs, and closes the connection to NATS. Drops a job if the server has not
   * answered a request about the job for twice `#leaseMs`. Another worker then gets the job.
   */
  async drain(): Promise<void> {
    this.#draining.abort()
    const drainsSince = performance.now()
    // `#leaveUnanswered` drops a job when the server has been silent about it for twice `#leaseMs`. This time begins
    // when a request fails. If the server is silent, an HTTP request (for the input, or with the result) fails only
    // after the timeout of `fetch`, which is 6 minutes. So a job may be dropped up to 6 minutes later.
    const timer = setInterval(() => this.#leaveUnanswered(drainsSince), limits.workerBeatMs)
    await this.#loops
    clearInterval(timer)
    // If NATS is unreachable, `drain` of the NATS client may reject or wait. Without `close`, the open connection would
    // keep the process alive.
    await beforeStop(this.#nats.drain(), this.#outages.lost).catch(() => {})
    await this.#nats.close()
    rmSync(this.#settings.folder, { recursive: true, force: true })
  }

  /**
   * Ends the worker at once: aborts its jobs and closes the connection to NATS. Other workers get the jobs after a
   * silence of `#leaseMs`.
   */
  async close(): Promise<void> {
    this.#draining.abort()
    const assignments = [...this.#assignments.values()]
    for (const assignment of assignments) assignment.leave()
    await Promise.all(assignments.map(({ done }) => done))
    await this.#nats.close()
    rmSync(this.#settings.folder, { recursive: true, force: true })
  }

  #leaveUnanswered(drainsSince: number): void {
    for (const [job, assignment] of this.#assignments) {
      const { waitsSince } = assignment
      if (waitsSince === null) continue
      if (performance.now() - Math.max(waitsSince, drainsSince) < 2 * this.#leaseMs) continue
      log.warn('job left', { job_id: job, reason: 'the server does not answer, and this worker ends' })
      this.#assignments.delete(job)
      assignment.leave()
    }
  }

  get #isResting(): boolean {
    return performance.now() < this.#restsUntil
  }

  get #isDraining(): boolean {
    return this.#draining.signal.aborted
  }

  /**
   * Sends `hello` messages at intervals until the worker ends. The interval is at most a third of the lease (the
   * silence after which a worker loses its jobs). The answers to the first and the last message are awaited. The first
   * answer contains the lease.
   */
  async #greet(): Promise<void> {
    await this.#introduce()
    while (!this.#isDraining || this.#assignments.size > 0) {
      await this.#pause(intervalIn(this.#leaseMs, limits.workerHelloMs))
      void this.#sayHello()
    }
    await this.#sayHello()
  }

  /**
   * Sends `hello` messages until the server answers, this worker stops, or the connection breaks. The pause between two
   * messages starts at `workerReadyMs` and doubles up to the usual interval. A worker that starts just before its
   * server thus gets jobs soon.
   */
  async #introduce(): Promise<void> {
    const { lost } = this.#outages
    const goesOn = () => !this.#isGreeted && !this.#isDraining && !lost.aborted
    this.#isGreeted = false
    await this.#sayHello()
    for (let pauseMs: number = limits.workerReadyMs; goesOn(); pauseMs *= 2) {
      await this.#pause(Math.min(pauseMs, intervalIn(this.#leaseMs, limits.workerHelloMs)))
      if (goesOn()) void this.#sayHello()
    }
  }

  /**
   * Called after a reconnect to NATS. The queues may be lost, and JetStream does not answer requests to a missing
   * queue. The worker therefore asks for jobs only after the server has created the queues and answered a `hello`.
   */
  #onBack(): void {
    this.#pool = null
    void this.#introduce()
  }

  /**
   * Sends a `hello` message with the abilities and the jobs of this worker. Does nothing if the server does not answer.
   */
  async #sayHello(): Promise<void> {
    try {
      const hello = this.#hello()
      this.#welcome(await this.#server.ask('hello', hello), hello)
    } catch {
      // A `hello` without an answer is not repeated here, because `#greet` sends `hello` messages at intervals.
    }
  }

  /**
   * Handles the answer to a `hello` message. Uses the pool in the answer only if the message said "ready" and the
   * worker's abilities are still the same.
   */
  #welcome(answer: HelloAnswer, hello: Hello): void {
    this.#greeted.resolve()
    this.#isGreeted = true
    if (answer.kind === 'welcome') {
      this.#refusal = null
      if (hello.ready && poolOf(hello) === poolOf(this.#hello())) this.#pool = answer.pool
      this.#leaseMs = answer.leaseMs
      this.#server.timeoutMs = Math.min(limits.workerRequestMs, answer.leaseMs / 2)
      for (const job of answer.stop) this.#assignments.get(job)?.stop()
      return
    }
    if (answer.message !== this.#refusal) log.error('refused by the server', { reason: answer.message })
    this.#refusal = answer.message
    this.#pool = null
  }

  #hello(): Hello {
    const { ready, message, model, device, diarization } = this.#engine.state()
    const hindrance = this.#hindrance()
    return {
      protocol,
      session: this.#session,
      version: build.version,
      ready: ready && hindrance === null,
      message: (hindrance ?? message).slice(0, 1000),
      device,
      model: model ?? 'none',
      languages: [...this.#engine.languages()],
      translates: this.#engine.translates() ?? false,
      diarization,
      slots: this.#engine.capacity,
      speed: this.#speed,
      jobs: [...this.#assignments.values()]
        .filter(({ fence }) => fence > 0)
        .map(({ jobId, fence }) => ({ job: jobId, fence })),
    }
  }

  /**
   * Returns the reason why this worker takes no jobs: it stops, or it pauses after an error. Otherwise returns null.
   */
  #hindrance(): string | null {
    if (this.#isDraining) return 'The worker stops.'
    if (!this.#isResting) return null
    return `A job met an error of this machine, and the log says which. The worker rests for ${this.#restMs / 1000} s.`
  }

  /**
   * A loop that does one job after another. The worker runs one such loop for each job that its engine can do at the
   * same time.
   */
  async #takeJobs(): Promise<void> {
    while (!this.#isDraining) {
      const delivery = await this.#nextDelivery()
      if (!delivery) continue
      const earlier = this.#assignments.get(delivery.jobId)
      if (earlier) {
        earlier.deliveredAgain(delivery)
        continue
      }
      // A job that arrives after a call of `drain` or `close` is given back to JetStream.
      if (this.#isDraining) delivery.giveBack(0)
      else await this.#assign(delivery)
    }
  }

  async #assign(delivery: Delivery): Promise<void> {
    const { jobId: job, sequence, count } = delivery
    const claim = { protocol, session: this.#session, job, sequence, delivery: count }
    const parts = {
      server: this.#server,
      engine: this.#engine,
      session: this.#session,
      folder: this.#settings.folder,
      leaseMs: this.#leaseMs,
    }
    const assignment = new Assignment(delivery, claim, parts)
    this.#assignments.set(job, assignment)
    const outcome = await assignment.done
    this.#assignments.delete(job)
    if (assignment.isOfMachine) this.#rest()
    if (!outcome) return
    if (!this.#isResting) this.#restMs = 0
    const speed = outcome.audioSeconds / Math.max(outcome.workSeconds, 0.001)
    this.#speed = this.#speed === null ? speed : 0.8 * this.#speed + 0.2 * speed
  }

  /**
   * Takes no jobs for some time after an error of this machine, such as a full disk. Without this pause, each job would
   * fail at once. The worker would therefore always be free, and would take and fail most jobs.
   */
  #rest(): void {
    // Jobs that began before the pause may fail by the same error. They do not make the pause longer.
    if (this.#isResting) return
    const { min, max } = limits.workerRestMs
    this.#restMs = Math.min(max, Math.max(min, 2 * this.#restMs))
    this.#restsUntil = performance.now() + this.#restMs
    void this.#sayHello()
  }

  /**
   * Takes the next message from the queues of this worker's pool. Returns null, usually after a wait, if there is no
   * message or if this worker can take no job.
   */
  async #nextDelivery(): Promise<Delivery | null> {
    const pool = this.#pool
    const { lost } = this.#outages
    if (pool === null || lost.aborted || !this.#engine.state().ready || this.#isResting) {
      await this.#pause(limits.workerReadyMs)
      return null
    }
    try {
      for (const priority of priorities) {
        const waitMs = priority === 'first' ? limits.workerPullMs : 0
        const delivery = await pull(this.#nats, this.#settings.cluster, { pool, priority, waitMs, lost })
        if (delivery) return delivery
      }
    } catch {
      await this.#pause(limits.natsReconnectMs)
    }
    return null
  }

  /**
   * Stops a job when the server orders it. Ignores an invalid order. Each claim (a worker's request for a job) has a
   * number, the fence. An order with another fence is for another claim, so it is ignored too.
   */
  #obey(bytes: Uint8Array): void {
    const order = readStopOrder(bytes)
    const assignment = order && this.#assignments.get(order.job)
    if (assignment && assignment.fence === order.fence) assignment.stop()
  }

  /**
   * Pauses for `ms` milliseconds. After a call of `drain` or `close`, the pause ends within `workerBeatMs`
   * milliseconds.
   */
  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#draining.signal }).catch(() => {})
    if (this.#isDraining) await wait(Math.min(ms, limits.workerBeatMs))
  }
}
