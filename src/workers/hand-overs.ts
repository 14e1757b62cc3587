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

/** The functions by which the class `HandOvers` claims and finds jobs in the database. */
export type Claims = {
  /** Claims a job for a worker. Returns null if the job is not in the state `processing`. */
  claim(jobId: string, worker: string): { fence: number; attempts: number } | null
  /**
   * Claims a job for the server's own engine. Returns the number of the claim, or null if the job is not in the state
   * `processing`, or if the database refuses the write.
   */
  takeBack(jobId: string): number | null
  /** Finds a job in the database. Returns null if no job has this id. */
  find(jobId: string): { fence: number; isOver: boolean } | null
}

/**
 * `HandOvers` computes the expiry times of signed addresses from the wall clock, and leases from the monotonic clock.
 */
export type HandOverParts = Clocks & {
  leaseMs: number
  secrets: Secrets
  claims: Claims
  /** A function that is called when a job fails because the last allowed attempt ended without a result. */
  onDead?: () => void
}

export class HandOvers {
  readonly #parts: HandOverParts
  readonly #passOn: (entry: HandOver) => boolean
  readonly #entries = new Map<string, HandOver>()
  /**
   * The results that are being stored, by the id of the job. `answers` are the functions that send an answer to the
   * workers that wait until the result is stored.
   */
  readonly #storing = new Map<string, { fence: number; answers: ((answer: ResultAnswer) => void)[] }>()

  /**
   * `passOn` is called when a worker whose machine has failed on the job claims it again. It returns true if another
   * ready worker, whose machine has not failed on the job, could do it. The answer to the claim is then `later`.
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

  add(entry: HandOver): void {
    this.#entries.set(entry.jobId, entry)
  }

  /**
   * Called when a job has ended, or when the server's own engine takes it over. Sends an answer to each worker that has
   * sent the result of this job and waits until the result is stored. Removes and returns the hand-over of the job (its
   * entry in the list of jobs that were passed to workers). Returns null if the job has no hand-over.
   */
  ended(jobId: string): HandOver | null {
    const storing = this.#storing.get(jobId)
    this.#storing.delete(jobId)
    for (const answer of storing?.answers ?? []) answer({ kind: 'stored' })
    const entry = this.#entries.get(jobId) ?? null
    this.#entries.delete(jobId)
    return entry
  }

  /**
   * Records that the worker that holds the job has sent a message just now. A worker claims a job before it works on
   * the job, and each claim has a number. `fence` is the number in the message. Does nothing if the job is not held by
   * the claim with this number. For example, another worker may have claimed the job since.
   */
  hear(jobId: string, fence: number): void {
    const entry = this.#entries.get(jobId)
    if (entry?.isHeldBy(fence)) entry.heardAt = this.#parts.uptime()
  }

  /**
   * Restarts the lease of each worker that holds a job. (A worker that sends no message during its lease may lose its
   * job to another worker.) Called after a time in which NATS was unreachable, so that no worker could send a message.
   */
  hearAll(): void {
    for (const entry of this.#entries.values()) entry.heardAt = this.#parts.uptime()
  }

  /**
   * Returns true while the lease of the worker that holds the job lasts. After a silence of `leaseMs`, another worker
   * may claim the job.
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
   * Answers the claim of a worker. If the worker gets the job, the answer contains the input of the job. If the answer
   * with the input is larger than `bytesMax` bytes, the input is left out, and the worker fetches it over HTTP.
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
    // A worker repeats its claim if the answer was late or lost. It keeps the job, even if the job has been put into
    // another queue in the meantime.
    if (holder?.worker === worker && holder.delivery === delivery) {
      entry.heardAt = this.#parts.uptime()
      return this.#grant(entry, holder.fence, bytesMax)
    }
    // An older message of the job has a lower number. A higher number belongs to a newer message, whose number the
    // server has not yet received from JetStream.
    if (entry.place && sequence < entry.place.sequence) return { kind: 'over' }
    // The holder is the worker that has claimed the job. After JetStream was unreachable for a while, JetStream may
    // deliver the message of a job again, although the holder still works on the job. If the server still hears from
    // the holder, the holder keeps the job.
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
    // If the answer `again` was lost, the worker sends its failure again. It gets the same answer if no other worker
    // has claimed the job in the meantime.
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
   * A hand-over is a job that the server has passed to workers. Returns the hand-over that a message names, if the
   * worker that sent the message holds the job. Otherwise returns what this worker must do: stop, or try again later.
   */
  #entryOf({ job, fence, token }: Held): HandOver | 'later' | 'stop' {
    if (!isToken(this.#parts.secrets, job, fence, token)) return 'stop'
    const entry = this.#entries.get(job)
    if (entry?.isHeldBy(fence) && !entry.isAborted) return entry
    return this.mustStop(job, fence) ? 'stop' : 'later'
  }

  /**
   * Returns true if the worker with the claim `fence` must stop its work on the job, because the job has ended or does
   * not exist, or because `fence` is not the last claim of the job.
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
