// The jobs that are passed to workers, and the answers to the requests of workers about these jobs.

import { log } from '../base/log.ts'
import type { Secrets } from '../base/seal.ts'
import { type JobErrorCode, JobFailure, jobErrors } from '../errors.ts'
import { limits } from '../limits.ts'
import { addressesOf, isToken, tokenFor } from './addresses.ts'
import type { AddressesAnswer, BeatAnswer, ClaimAnswer, JobInput, ResultAnswer } from './answers.ts'
import type { HandOver } from './hand-over.ts'
import { type Beat, bytesOf, type Claim, type Held, protocol, type ResultMessage } from './requests.ts'
import { type Clocks, workerId } from './roster.ts'

/** The functions that claim and find jobs in the database. */
export type Claims = {
  /** Claims a job for a worker. Returns null if the job is not in the state `processing`. */
  claim(jobId: string, worker: string): { fence: number; attempts: number } | null
  /**
   * Claims a job for the server's own engine. Returns the number of the claim. Returns null if the job is not in the
   * state `processing`, or if the database refuses the write.
   */
  takeBack(jobId: string): number | null
  /** Finds a job in the database. Returns null if no job has this id. */
  find(jobId: string): { fence: number; isOver: boolean } | null
}

/** The wall clock gives the expiry times of signed addresses, and the monotonic clock measures leases. */
export type HandOverParts = Clocks & {
  leaseMs: number
  secrets: Secrets
  claims: Claims
  /** Called when a job fails because its last allowed attempt ended without a result. */
  onDead?: () => void
}

export class HandOvers {
  readonly #parts: HandOverParts
  readonly #passOn: (entry: HandOver) => boolean
  readonly #entries = new Map<string, HandOver>()
  /**
   * The results that are being stored, by job id. `answers` has one function for each worker request that waits for the
   * end of the write.
   */
  readonly #storing = new Map<string, { fence: number; answers: ((answer: ResultAnswer) => void)[] }>()

  /**
   * `passOn` is called when a worker claims a job that failed before because of this worker's machine. It returns true
   * if another worker should do the job. The claim then gets the answer `later`: the worker returns the job's message
   * to JetStream, so that another worker can receive it.
   */
  constructor(parts: HandOverParts, passOn: (entry: HandOver) => boolean) {
    this.#parts = parts
    this.#passOn = passOn
  }

  get size(): number {
    return this.#entries.size
  }

  all(): HandOver[] {
    return [...this.#entries.values()]
  }

  /**
   * Adds a job. A job is added again if the database could not store its last result. The worker that delivered this
   * result then gets the answer `later`, and sends the result again.
   */
  add(entry: HandOver): void {
    this.#answerStoring(entry.jobId, { kind: 'later' })
    this.#entries.set(entry.jobId, entry)
  }

  /**
   * Called when a job has ended, when its media are downloaded again, or when the server's own engine takes it over. A
   * worker may still wait for the answer to its result of this job. It gets the answer `stored`, even if the result is
   * not stored, because this answer ends the worker's work on the job. Removes and returns the job's hand-over, or
   * returns null if there is none.
   */
  ended(jobId: string): HandOver | null {
    this.#answerStoring(jobId, { kind: 'stored' })
    const entry = this.#entries.get(jobId) ?? null
    this.#entries.delete(jobId)
    return entry
  }

  #answerStoring(jobId: string, answer: ResultAnswer): void {
    const storing = this.#storing.get(jobId)
    this.#storing.delete(jobId)
    for (const send of storing?.answers ?? []) send(answer)
  }

  /**
   * Records that the worker with the claim `fence` has sent a message just now. Does nothing if this claim no longer
   * holds the job.
   */
  hear(jobId: string, fence: number): void {
    const entry = this.#entries.get(jobId)
    if (entry?.isHeldBy(fence)) entry.heardAt = this.#parts.uptime()
  }

  /**
   * Restarts the lease (the allowed silence) of each worker that holds a job. Called after an outage of NATS, in which
   * no worker could send a message.
   */
  hearAll(): void {
    for (const entry of this.#entries.values()) entry.heardAt = this.#parts.uptime()
  }

  /**
   * Returns true while the lease of the worker that holds the job lasts. The lease ends after a silence of `leaseMs`.
   */
  isHeard(entry: HandOver): boolean {
    return this.#leaseLeftMs(entry) > 0
  }

  #leaseLeftMs({ heardAt }: HandOver): number {
    return heardAt + this.#parts.leaseMs - this.#parts.uptime()
  }

  inputOf(jobId: string): JobInput | null {
    return this.#entries.get(jobId)?.input ?? null
  }

  /**
   * Answers the claim of a worker. The answer `yours` contains the input of the job if the answer fits into `bytesMax`
   * bytes. If not, the worker fetches the input by HTTP.
   */
  claim(
    name: string,
    { protocol: spoken, session, job, sequence, delivery }: Claim,
    bytesMax: number,
  ): ClaimAnswer {
    if (spoken !== protocol)
      return { kind: 'refused', message: `the server has protocol ${protocol}: install its version` }
    const entry = this.#entries.get(job)
    if (!entry || entry.isAborted) return { kind: this.#isOver(job) ? 'over' : 'later' }
    const worker = workerId(name, session)
    const { holder } = entry
    // A worker repeats its claim if the answer was late or lost. The worker then keeps the job.
    if (holder?.worker === worker && holder.delivery === delivery) {
      entry.heardAt = this.#parts.uptime()
      return this.#grant(entry, holder.fence, bytesMax)
    }
    // JetStream numbers its messages, and `sequence` is the number of the message that the worker got. A number lower
    // than that of the job's newest known message belongs to an older message. The worker removes this older message
    // after the answer `over`. A higher number is accepted. It belongs to a newer message, whose number JetStream has
    // not yet sent to this server.
    if (entry.place && sequence < entry.place.sequence) return { kind: 'over' }
    // After an outage, JetStream may deliver a message again although the holder (the worker with the last claim) still
    // works on the job. The holder keeps the job while its lease lasts.
    const leftMs = this.#leaseLeftMs(entry)
    if (holder && holder.worker !== worker && leftMs > 0) return { kind: 'later', afterMs: Math.ceil(leftMs) }
    if (!entry.mayBeClaimed) {
      this.giveUp(entry)
      return { kind: 'over' }
    }
    if (entry.brokenOffBy.has(name) && this.#passOn(entry))
      return { kind: 'later', afterMs: limits.workerRetryMs }
    const claimed = this.#parts.claims.claim(job, worker)
    if (!claimed) return { kind: 'over' }
    entry.claimed({ worker, fence: claimed.fence, delivery }, claimed.attempts, this.#parts.uptime())
    return this.#grant(entry, claimed.fence, bytesMax)
  }

  #grant({ jobId, input }: HandOver, fence: number, bytesMax: number): ClaimAnswer {
    const { secrets, wall } = this.#parts
    const token = tokenFor(secrets, jobId, fence)
    const addresses = addressesOf(secrets, jobId, fence, wall())
    const answer: ClaimAnswer = { kind: 'yours', fence, token, input, addresses }
    return bytesOf(answer).length <= bytesMax ? answer : { ...answer, input: null }
  }

  /** Fails a job whose last allowed attempt ended without a result. */
  giveUp(entry: HandOver): void {
    const { jobId, attempts, lastWorker } = entry
    this.#entries.delete(jobId)
    log.error('dead letter', { job_id: jobId, attempts, last_worker: lastWorker })
    this.#parts.onDead?.()
    entry.fail(entry.failure ?? new JobFailure('PROCESSING_ERROR'))
  }

  beat(beat: Beat): BeatAnswer {
    const entry = this.#entryOf(beat)
    if (typeof entry === 'string') return { kind: entry }
    entry.beat(beat, this.#parts.uptime())
    return { kind: 'continue', heard: entry.heard }
  }

  addresses(held: Held): AddressesAnswer {
    const entry = this.#entryOf(held)
    if (typeof entry === 'string') return { kind: entry }
    const { secrets, wall } = this.#parts
    return { kind: 'addresses', addresses: addressesOf(secrets, held.job, held.fence, wall()) }
  }

  result(message: ResultMessage): ResultAnswer | Promise<ResultAnswer> {
    const { job, fence, token, transcript, failure } = message
    const storing = this.#storing.get(job)
    if (storing?.fence === fence && isToken(this.#parts.secrets, job, fence, token))
      return new Promise(resolve => storing.answers.push(resolve))
    const entry = this.#entryOf(message)
    // `#entryOf` usually returns `later` because this server does not pass the job to workers at the moment, for
    // example just after a restart. The worker then gets the answer `later`, and sends the result again later. There is
    // one other case. The worker has sent a failure that its machine caused, such as a full disk, and the answer was
    // lost. The first answer was `again`: the job is tried again, if possible by another worker. So the answer to the
    // repeated failure is `again` too.
    if (entry === 'later')
      return { kind: this.#entries.get(job)?.brokenOffFence === fence ? 'again' : 'later' }
    if (entry === 'stop' || !(transcript || failure)) return { kind: 'refused' }
    if (failure && isOfMachine(failure)) {
      entry.release(new JobFailure(failure.code, failure.message))
      if (entry.mayBeClaimed) return { kind: 'again' }
      this.giveUp(entry)
      return { kind: 'stored' }
    }
    this.#entries.delete(job)
    return new Promise(resolve => {
      this.#storing.set(job, { fence, answers: [resolve] })
      if (transcript) entry.finish(transcript, message.peaks ? Buffer.from(message.peaks, 'base64') : null)
      else if (failure) entry.fail(new JobFailure(failure.code, failure.message))
    })
  }

  /**
   * Returns the hand-over of the job (one job that the server gives to workers), if the sender of the message holds the
   * job. The sender holds the job if its claim (its request for the job) is the last claim. `fence` is the number of
   * this claim. Otherwise returns what the sender must do: stop, or try again later.
   */
  #entryOf({ job, fence, token }: Held): HandOver | 'later' | 'stop' {
    if (!isToken(this.#parts.secrets, job, fence, token)) return 'stop'
    const entry = this.#entries.get(job)
    if (entry?.isHeldBy(fence) && !entry.isAborted) return entry
    return this.mustStop(job, fence) ? 'stop' : 'later'
  }

  /**
   * Returns true if the worker with the claim `fence` must stop. The job has then ended or does not exist, or another
   * claim is newer.
   */
  mustStop(job: string, fence: number): boolean {
    const found = this.#parts.claims.find(job)
    return found === null || found.isOver || found.fence !== fence
  }

  #isOver(job: string): boolean {
    return this.#parts.claims.find(job)?.isOver ?? true
  }
}

/** Returns true if the machine of the worker caused the failure, not the recording. Another worker may then succeed. */
function isOfMachine({ code, message }: { code: JobErrorCode; message: string }): boolean {
  return (code === 'PROCESSING_ERROR' || code === 'INTERNAL_ERROR') && message === jobErrors[code]
}
