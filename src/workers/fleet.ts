// The fleet: the engine that passes jobs to workers on other machines. Each job has a message in a stream of JetStream
// (the message queues of NATS), from which the workers take jobs. The message contains only the id of the job, not its
// input. The database decides which worker may deliver a result: the worker with the last claim of the job. If the
// stream loses a job's message, the server sends a new one.

import { errorFields, log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import type { Db } from '../db/db.ts'
import type { Engine, EngineState } from '../engine/engine.ts'
import type { HandOver as Facts, Needs, TranscribeInput, TranscribeOptions } from '../engine/request.ts'
import { limits } from '../limits.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import { isModelToken, isSignedAddress, modelTokenFor, type Purpose, type Signed } from './addresses.ts'
import type { Answers, HelloAnswer, JobInput, ResultAnswer } from './answers.ts'
import type { NatsSettings } from './connection.ts'
import { HandOver } from './hand-over.ts'
import { type HandOverParts, HandOvers } from './hand-overs.ts'
import { Link } from './link.ts'
import { awayOf, type ListedWorker, listedOf, saveList } from './listing.ts'
import { type Abilities, canDo, freeOf, type Pool } from './pools.ts'
import { bytesOf, type Hello, type Requests, readRequest } from './requests.ts'
import { type KnownWorker, type RememberedWorker, Roster, workerName } from './roster.ts'
import { type RequestKind, subjectsOf } from './subjects.ts'

/** The server's own engine. It takes over jobs that no worker can do any more. */
export type OwnEngine = {
  canDo(input: JobInput): boolean
  hasRoom(): boolean
  /** Called when a job moves from the fleet to the server's own engine. */
  take(jobId: string): void
}

export type FleetParts = NatsSettings &
  HandOverParts & {
    cluster: string
    /** The workers that `save` stored before this server started. */
    remembered: readonly RememberedWorker[]
  }

export class Fleet implements Engine {
  /** Null if the server has no engine of its own. */
  own: OwnEngine | null = null
  readonly #parts: FleetParts
  readonly #roster: Roster
  readonly #link: Link
  readonly #handOvers: HandOvers
  readonly #readyListeners: (() => void)[] = []
  readonly #timer: Timer
  /** The reason why the JetStream stream accepts no jobs, such as a full disk. Null if no such reason is known. */
  #refusal: string | null = null
  /** The pools whose queues JetStream failed to create at the last attempt. */
  readonly #unopened = new Set<string>()
  /**
   * The pools whose queues may exist in JetStream, because the server has tried to create them, in this run or an
   * earlier one. Each promise resolves when the newest attempt to create the pool's queues has ended, even if the
   * attempt failed.
   */
  readonly #opened: Map<string, Promise<void>>
  /** The names for which a worker was refused, because too many workers already have this name. */
  readonly #fullNames = new Set<string>()
  /** The time, by the monotonic clock, at which the JetStream stream last became usable. */
  #linkedAt = 0
  #isClosed = false

  constructor(parts: FleetParts) {
    this.#parts = parts
    this.#roster = new Roster(parts.leaseMs, parts, parts.remembered)
    this.#opened = new Map(parts.remembered.map(({ pool }) => [pool, Promise.resolve()]))
    this.#handOvers = new HandOvers(parts, entry => this.#passOn(entry))
    this.#link = new Link(parts, {
      answer: (name, kind, request, bytesMax) => this.#answer(name, kind, request, bytesMax),
      onReady: () => this.#onLink(),
    })
    this.#timer = setInterval(() => this.sweep(), parts.leaseMs / 3)
  }

  get capacity(): number {
    return this.#handOvers.size + this.#room()
  }

  /**
   * Returns true if a pool of ready workers can do this job. A pool does not count if the last attempt to create its
   * queues failed.
   */
  serves(needs: Needs): boolean {
    return this.#poolsWithQueues().some(({ abilities }) => canDo(abilities, needs))
  }

  /**
   * Returns true if a worker can do this job now or later. A worker counts that has been absent for less than
   * `workerRememberedMs`, and a worker whose queues do not exist yet. Also returns true during an outage of NATS and
   * for `leaseMs` after it, because the server may not know all workers then.
   */
  mayServeLater(needs: Needs): boolean {
    if (this.#link.fault() !== null || this.#parts.uptime() - this.#linkedAt <= this.#parts.leaseMs)
      return true
    return this.#serving().some(abilities => canDo(abilities, needs))
  }

  /**
   * Returns true if NATS works, and a pool that supports the language and the options of the job (`needs`) has free
   * capacity.
   */
  hasRoomFor(needs: Needs): boolean {
    const taken = this.#taken()
    const pools = this.#poolsWithQueues().filter(({ abilities }) => canDo(abilities, needs))
    return this.fault() === null && pools.some(pool => freeOf(pool, taken) > 0)
  }

  state(): EngineState {
    const [worker] = this.#roster.working()
    const fault = this.fault()
    const count = this.#roster.working().length
    return {
      ready: fault === null && worker !== undefined,
      message: fault ?? (worker ? `ready, with ${count} workers` : 'No worker is connected.'),
      model: worker?.model ?? null,
      device: worker?.device ?? null,
      diarization: worker?.diarization ?? 'No worker is connected.',
    }
  }

  /**
   * Returns the reason why NATS can pass no job to workers. Returns null if it can, even if no worker is present.
   * Callers of the API may see this text, so it must contain nothing private.
   */
  fault(): string | null {
    return this.#link.fault() ?? (this.#takesJobs() ? null : 'JetStream takes no jobs; the log says why.')
  }

  /**
   * Returns true if JetStream accepts jobs, and at least one pool of ready workers (workers with the same abilities)
   * has its queues there. The creation of these queues can fail. If no worker is ready, there is no pool, and missing
   * queues are no fault.
   */
  #takesJobs(): boolean {
    const hasQueues = this.#roster.pools().length === 0 || this.#poolsWithQueues().length > 0
    return this.#refusal === null && hasQueues
  }

  workers(): ListedWorker[] {
    const present = this.#roster.all()
    const away = this.#roster.away().filter(({ name }) => !present.some(worker => worker.name === name))
    const jobsOf = (name: string) =>
      this.#handOvers.all().filter(({ holder }) => holder && workerName(holder.worker) === name).length
    return [...present.map(listedOf), ...away.map(worker => awayOf(worker, jobsOf(worker.name)))]
  }

  /** Stores the workers in the database, for `steno workers list` and for the next start of the server. */
  save(db: Db): void {
    saveList(db, this.workers(), this.#roster.remembered())
  }

  /**
   * The languages of the ready workers, and of the absent workers that were ready less than `workerRememberedMs` ago.
   */
  languages(): readonly string[] {
    return [...new Set(this.#serving().flatMap(({ languages }) => languages))]
  }

  translates(): boolean | null {
    const serving = this.#serving()
    return serving.length === 0 ? null : serving.some(({ translates }) => translates)
  }

  onReady(listener: () => void): void {
    this.#readyListeners.push(listener)
  }

  transcribe(input: TranscribeInput, options: TranscribeOptions): Promise<Transcript> {
    const { handOver } = options
    if (!handOver) throw new Error('a job without an id cannot be handed to a worker')
    options.signal.throwIfAborted()
    const entry = new HandOver(input, options, handOver, this.#parts.uptime())
    this.#handOvers.add(entry)
    // A job with a holder (the worker with the last claim) was claimed before this server started. The message of the
    // job is usually still in the JetStream stream, so it is not sent again now. If the holder stays silent, `sweep`
    // sends it again.
    if (!entry.holder) this.#place(entry)
    return entry.done
  }

  mayBeHeld({ worker }: Facts): boolean {
    return worker !== null
  }

  waitingJobs(): string[] {
    const away = this.#link.fault() !== null
    return this.#handOvers
      .all()
      .filter(entry => away || entry.holder === null || !this.#handOvers.isHeard(entry))
      .map(({ jobId }) => jobId)
  }

  ended(jobId: string): void {
    const entry = this.#handOvers.ended(jobId)
    if (!entry) return
    const { holder } = entry
    if (holder) {
      const order = bytesOf({ job: jobId, fence: holder.fence })
      this.#link.publish(subjectsOf(this.#parts.cluster).stop(workerName(holder.worker)), order)
    } else this.#removeMessage(entry)
  }

  /**
   * Receives a transcript or a failure that a worker sends by HTTP. Resolves when the transcript or failure is stored
   * in the database. Resolves at once if the request is refused, must be repeated later, or reports a fault of the
   * worker's machine.
   */
  async deliver(bytes: Uint8Array): Promise<ResultAnswer> {
    const message = readRequest('result', bytes)
    return message ? await this.#handOvers.result(message) : { kind: 'refused' }
  }

  /**
   * Returns the input of a job. Returns null if the job is not handed to workers at the moment, for example because it
   * has ended.
   */
  inputOf(jobId: string): JobInput | null {
    return this.#handOvers.inputOf(jobId)
  }

  /**
   * Checks a signed address to which a worker has sent a request. Returns true if the signature is valid for `purpose`,
   * the address has not expired, and the job has not ended. The address must also belong to the newest claim of the
   * job.
   */
  allows(purpose: Purpose, signed: Signed): boolean {
    const { secrets, wall } = this.#parts
    return (
      isSignedAddress(secrets, purpose, signed, wall()) &&
      !this.#handOvers.mustStop(signed.jobId, Number(signed.fence))
    )
  }

  allowsModels(token: string): boolean {
    return isModelToken(this.#parts.secrets, token, this.#parts.wall())
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await this.#link.close()
  }

  #room(): number {
    if (this.fault() !== null) return 0
    const taken = this.#taken()
    return this.#poolsWithQueues().reduce((sum, pool) => sum + freeOf(pool, taken), 0)
  }

  #poolsWithQueues(): Pool[] {
    return this.#roster.pools().filter(({ name }) => !this.#unopened.has(name))
  }

  #serving(): Abilities[] {
    return [...this.#roster.working(), ...this.#roster.away()]
  }

  #taken(): Map<string, number> {
    const taken = new Map<string, number>()
    for (const { place, holder } of this.#handOvers.all()) {
      const pool = place?.pool ?? (holder && this.#roster.find(holder.worker)?.pool)
      if (pool) taken.set(pool, (taken.get(pool) ?? 0) + 1)
    }
    return taken
  }

  /**
   * Puts a job into the queue of a pool (a group of workers with the same abilities). Does nothing if no worker is
   * ready, or if the JetStream stream was never opened.
   */
  #place(entry: HandOver): void {
    const taken = this.#taken()
    // Workers take jobs only from the queues of their pool. So a pool whose queues could not be created gets a job only
    // if no pool has queues. The job then waits in the stream until the queues of the pool are created.
    const open = this.#poolsWithQueues()
    const pools = open.length > 0 ? open : this.#roster.pools()
    const able = pools.filter(({ abilities }) => canDo(abilities, entry.input))
    // The job waits if a worker may do it later.
    if (able.length === 0 && this.mayServeLater(entry.input)) return
    const others = this.#othersFor(entry).map(worker => worker.pool)
    // The pools with a ready worker that can do the job. A worker does not count if it ended this job with an error of
    // its machine, such as a full disk.
    const fresh = able.filter(({ name }) => others.includes(name))
    // The pool whose queue already has the job.
    const present = pools.filter(({ name }) => name === entry.place?.pool)
    // The lists are tried in this order, and the first one that is not empty is chosen. If no pool can do the job, the
    // job still goes to a pool. A worker of this pool then fails the job with an error that names what is missing.
    // Otherwise, the job would wait for ever.
    const choice = [fresh, present, able, pools].find(({ length }) => length > 0) ?? []
    const [freest] = choice.toSorted((a, b) => freeOf(b, taken) - freeOf(a, taken))
    // If the job is already in the queue of a pool in `choice`, the job stays there. Otherwise the job goes to the pool
    // in `choice` that can take the most further jobs.
    const best = choice.find(pool => present.includes(pool)) ?? freest
    const { stream } = this.#link
    if (!best || !stream) return
    const pool = best.name
    const earlier = entry.place
    const place = { pool, sequence: earlier?.pool === pool ? earlier.sequence : 0 }
    entry.place = place
    stream.put(pool, entry.wasStarted ? 'again' : 'first', entry.jobId).then(
      sequence => {
        place.sequence = sequence
        // Removes the job's message in the earlier pool, if the pool has changed. Also removes the new message if the
        // job has ended, or if a later call of `#place` has chosen another pool.
        for (const each of [earlier, place])
          if (each && each.pool !== entry.place?.pool) stream.remove(each.sequence).catch(() => {})
        this.#refused(null)
      },
      error => {
        // If a later call of `#place` has already chosen a queue for the job, this failure is ignored.
        if (entry.place !== place) return
        entry.place = earlier
        this.#refused(reasonOf(error))
      },
    )
  }

  /** Returns the ready workers that can do the job and have not ended it with an error of their machine. */
  #othersFor({ input, brokenOffBy }: HandOver): KnownWorker[] {
    return this.#roster.working().filter(worker => !brokenOffBy.has(worker.name) && canDo(worker, input))
  }

  /**
   * Called when a worker claims a job that it has tried before. Its earlier attempt ended with an error of its machine,
   * such as a full disk. Returns true if other workers should do the job: they can do it, and have had no such error.
   * Workers take jobs only from the queues of their own pool. If none of these other workers is in the pool that now
   * has the job, calls `#place`, which moves the job to the queue of such a worker's pool, if possible.
   */
  #passOn(entry: HandOver): boolean {
    const others = this.#othersFor(entry)
    if (others.length > 0 && !others.some(({ pool }) => pool === entry.place?.pool)) this.#place(entry)
    return others.length > 0
  }

  /**
   * Stores and logs why the JetStream stream accepts no messages. `reason` is null if the stream accepts them again.
   */
  #refused(reason: string | null): void {
    if (this.#isClosed || reason === this.#refusal) return
    this.#refusal = reason
    if (reason !== null) log.error('hand-over refused', { error: reason })
    else {
      log.info('hand-over works again')
      this.#tellReady()
    }
  }

  #onLink(): void {
    this.#linkedAt = this.#parts.uptime()
    this.#roster.hearAll()
    this.#handOvers.hearAll()
    for (const pool of this.#roster.pools()) this.#openPool(pool.name)
    void this.#placeAgain()
    this.#tellReady()
  }

  /**
   * Waits until no attempt to create queues is running. Then puts each job that no worker holds into the stream again,
   * because an outage of NATS may have lost the earlier message of the job.
   */
  async #placeAgain(): Promise<void> {
    await Promise.all(this.#opened.values())
    for (const entry of this.#handOvers.all()) {
      if (entry.holder || entry.isAborted) continue
      // A new stream does not contain the messages of the old stream, and numbers its messages from 1. The stored
      // number of the old message is therefore removed: 0 means unknown. Otherwise, the server would take the new
      // message with its lower number for an outdated one.
      if (entry.place && this.#link.stream?.isNew) entry.place = { ...entry.place, sequence: 0 }
      this.#place(entry)
    }
  }

  #tellReady(): void {
    for (const listener of this.#readyListeners) listener()
  }

  /**
   * Removes silent workers and unused pools. Passes the jobs of silent workers to other workers or to the server's own
   * engine. Called three times in each lease period (`leaseMs`). Does nothing while the JetStream stream is unusable.
   */
  sweep(): void {
    if (this.#link.fault() !== null) return
    for (const { name, ready, jobs } of this.#roster.dropSilent()) {
      this.#fullNames.delete(name)
      // A worker that stops in the normal way says in its last message that it is not ready and has no jobs.
      if (ready || jobs.length > 0) log.warn('worker silent', { worker: name, jobs: jobs.length })
      else log.info('worker left', { worker: name })
    }
    this.#closeUnusedPools()
    this.rescue()
    const due = this.#handOvers
      .all()
      .filter(entry => !entry.isAborted && !this.#isWorkedOn(entry) && !this.#isStranded(entry))
    // If the job is already in the queue that `#place` chooses, the call has no effect: JetStream refuses a second
    // message.
    for (const entry of due) this.#place(entry)
    this.#openPoolsAgain(due)
    if (due.length > 0 || this.#refusal === null) return
    // No job waits for a worker. So the server sends no message to the stream, and cannot find out whether the stream
    // accepts messages again. The stored refusal may be out of date, so it is removed. If the stream refuses the next
    // message, the new reason is stored.
    this.#refusal = null
    this.#tellReady()
  }

  /**
   * Finds the jobs that no worker can do any more, and passes them to the server's own engine, while this engine has
   * free capacity. A job that the own engine cannot do waits as long as a worker may do it later. Fails the jobs whose
   * last allowed attempt ended without a result. Does nothing while the JetStream stream is unusable.
   */
  rescue(): void {
    if (this.#link.fault() !== null) return
    this.#giveUp()
    for (const entry of this.#handOvers.all()) {
      if (!this.own?.hasRoom()) return
      if (!this.#isStranded(entry)) continue
      const fence = this.#parts.claims.takeBack(entry.jobId)
      if (fence === null) continue
      this.#handOvers.ended(entry.jobId)
      this.#removeMessage(entry)
      this.own.take(entry.jobId)
      entry.takenBack(fence)
    }
  }

  /** Fails the jobs that no worker works on any more, and that no further worker may claim. */
  #giveUp(): void {
    for (const entry of this.#handOvers.all()) {
      if (entry.isAborted || entry.mayBeClaimed || this.#isWorkedOn(entry)) continue
      this.#handOvers.giveUp(entry)
      this.#removeMessage(entry)
    }
  }

  /**
   * Removes the message of a job from the stream. If JetStream has not confirmed the message yet, the number of the
   * message is unknown. In this case, `#place` removes the message as soon as JetStream confirms it.
   */
  #removeMessage(entry: HandOver): void {
    const { place } = entry
    entry.place = null
    if (place) this.#link.stream?.remove(place.sequence).catch(() => {})
  }

  /**
   * Tries again to create the queues of each pool whose last attempt failed. Also creates the queues of the pools in
   * which jobs of `waiting` wait, because these queues may have been removed.
   */
  #openPoolsAgain(waiting: readonly HandOver[]): void {
    const waitedFor = new Set(waiting.map(({ place }) => place?.pool))
    for (const { name } of this.#roster.pools())
      if (this.#unopened.has(name) || waitedFor.has(name)) this.#openPool(name)
  }

  /**
   * Removes the queues of each pool without workers. A worker that was ready less than `workerRememberedMs` ago still
   * counts.
   */
  #closeUnusedPools(): void {
    const used = new Set([...this.#roster.all(), ...this.#roster.remembered()].map(({ pool }) => pool))
    for (const pool of this.#opened.keys()) {
      if (used.has(pool)) continue
      this.#opened.delete(pool)
      this.#unopened.delete(pool)
      // If the removal fails, the unused queue stays, which does no harm. The error is therefore ignored.
      this.#link.closePool(pool).catch(() => {})
    }
  }

  #isWorkedOn({ holder, heardAt }: HandOver): boolean {
    return holder !== null && this.#parts.uptime() - heardAt < 2 * this.#parts.leaseMs
  }

  #isStranded(entry: HandOver): boolean {
    if (entry.isAborted || this.#isWorkedOn(entry) || this.serves(entry.input) || !this.own) return false
    return this.own.canDo(entry.input) || !this.mayServeLater(entry.input)
  }

  async #answer<Kind extends RequestKind>(
    name: string,
    kind: Kind,
    request: Requests[Kind],
    bytesMax: number,
  ): Promise<Answers[Kind] | null> {
    const answers: {
      [Each in RequestKind]: (request: Requests[Each]) => Answers[Each] | Promise<Answers[Each]>
    } = {
      hello: hello => this.#hello(name, hello),
      claim: claim => this.#handOvers.claim(name, claim, bytesMax),
      beat: beat => this.#handOvers.beat(beat),
      result: result => this.#handOvers.result(result),
      addresses: held => this.#handOvers.addresses(held),
      models: () => ({ kind: 'models', token: modelTokenFor(this.#parts.secrets, this.#parts.wall()) }),
    }
    return this.#isClosed ? null : await answers[kind](request)
  }

  async #hello(name: string, hello: Hello): Promise<HelloAnswer> {
    const noted = this.#roster.note(name, hello)
    if (!noted) return this.#refuseName(name)
    const { worker, before } = noted
    if (worker.refusal !== null) {
      if (!before) log.warn('worker refused', { worker: name, reason: worker.refusal })
      return { kind: 'refused', message: worker.refusal }
    }
    if (worker.ready && !(before?.ready && before.pool === worker.pool)) {
      const { device, model, slots, version } = worker
      log.info('worker ready', { worker: name, device, model, slots, version })
      this.#openPool(worker.pool)
    }
    for (const { job, fence } of hello.jobs) this.#handOvers.hear(job, fence)
    // The answer waits for the attempt to create the queues of the pool. JetStream does not answer requests to a
    // missing queue, so a worker that got the answer earlier would ask for a job and wait until its request times out.
    await this.#link.usable
    await this.#opened.get(worker.pool)
    const stop = hello.jobs
      .filter(({ job, fence }) => this.#handOvers.mustStop(job, fence))
      .map(({ job }) => job)
    const pool = this.#unopened.has(worker.pool) ? null : worker.pool
    return { kind: 'welcome', pool, leaseMs: this.#parts.leaseMs, stop }
  }

  /**
   * Refuses a worker because too many workers have its name. Logs this only once, until one of these workers leaves.
   */
  #refuseName(name: string): HelloAnswer {
    const message = `${limits.workersOfNameMax} workers with the name ${name} are present, and more are not possible: start this one with another --name`
    if (!this.#fullNames.has(name)) log.warn('worker refused', { worker: name, reason: message })
    this.#fullNames.add(name)
    return { kind: 'refused', message }
  }

  /**
   * Creates the JetStream queues of a pool (workers with the same abilities). Then puts each job that is in no queue,
   * and that no worker holds, into a queue.
   */
  #openPool(pool: string): void {
    const opening = this.#link.openPool(pool).then(
      () => {
        this.#unopened.delete(pool)
        for (const entry of this.#handOvers.all()) if (!entry.place && !entry.holder) this.#place(entry)
        this.#tellReady()
      },
      error => {
        if (!this.#unopened.has(pool)) log.error('pool not opened', { pool, ...errorFields(error) })
        this.#unopened.add(pool)
      },
    )
    this.#opened.set(pool, opening)
  }
}
