// A hand-over: one job that the server passes to workers. It stores the place of the job's message in JetStream (the
// message queues of NATS), and which worker holds the job.

import type { HandOver as Facts, TranscribeInput, TranscribeOptions } from '../engine/request.ts'
import { limits } from '../limits.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { JobInput } from './answers.ts'
import type { Beat } from './requests.ts'
import { workerName } from './roster.ts'

/**
 * The worker with the last claim of a job. `fence` is the number of this claim. `delivery` is how often JetStream had
 * delivered the job's message at the claim. It is not stored, so it is 0 if steno's server has restarted since.
 */
export type Holder = { worker: string; fence: number; delivery: number }

/** The error that ends the passing of a job to workers, because the server's own engine takes over the job. */
export class TakenBack extends Error {}

export class HandOver {
  readonly jobId: string
  readonly input: JobInput
  readonly durationMs: number
  readonly done: Promise<Transcript>
  /**
   * The place of the job's message in the JetStream stream. `pool` names the group of workers whose queue has the
   * message. The server may send the message several times, for example after an outage of NATS. `sequence` is the
   * number that JetStream gave the job's newest message in this queue, or 0 if that is not known. `place` is null if
   * this process has put the job into no queue, or has removed the message.
   */
  place: { pool: string; sequence: number } | null = null
  holder: Holder | null
  /** The worker with the last known claim of the job, even if this claim has ended. */
  lastWorker: string | null
  attempts: number
  /**
   * The time, by the monotonic clock, from which the silence of the worker that holds the job is measured. Usually the
   * time of the worker's last message about the job. After too long a silence, another worker may claim the job.
   */
  heardAt: number
  /** The number of utterances of this job that the server has received since the last claim of the job. */
  heard = 0
  /** The last failure that a worker's machine caused, or null. Another worker may still complete the job. */
  failure: Error | null = null
  /** The fence: the number of the worker's claim that ended with `failure`. 0 if `failure` is null. */
  brokenOffFence = 0
  /** The names of the workers that ended the job with an error of their machine, such as a full disk. */
  readonly brokenOffBy = new Set<string>()
  readonly #options: TranscribeOptions
  readonly #settle: (transcript: Transcript) => void
  readonly #fail: (error: unknown) => void

  constructor(input: TranscribeInput, options: TranscribeOptions, facts: Facts, now: number) {
    const { path: _path, section: _section, ...sent } = input
    const { promise, resolve, reject } = Promise.withResolvers<Transcript>()
    this.jobId = facts.jobId
    this.input = sent
    this.durationMs = input.durationMs
    this.attempts = facts.attempts
    this.holder = facts.worker === null ? null : { worker: facts.worker, fence: facts.fence, delivery: 0 }
    this.lastWorker = facts.worker
    this.heardAt = now
    this.done = promise
    this.#options = options
    this.#settle = resolve
    this.#fail = reject
    options.signal.addEventListener('abort', () => reject(options.signal.reason), { once: true })
  }

  get isAborted(): boolean {
    return this.#options.signal.aborted
  }

  /** True if a worker claimed the job before. Workers get such jobs before other jobs. */
  get wasStarted(): boolean {
    return this.attempts > 0
  }

  /** False if workers have already claimed the job the maximum number of times. */
  get mayBeClaimed(): boolean {
    return this.attempts < limits.workerAttemptsMax
  }

  isHeldBy(fence: number): boolean {
    return this.holder?.fence === fence
  }

  claimed(holder: Holder, attempts: number, now: number): void {
    this.holder = holder
    this.lastWorker = holder.worker
    this.attempts = attempts
    this.heardAt = now
    this.heard = 0
    this.#options.onClaim?.(holder.fence)
    this.#options.onSeconds(0)
  }

  /**
   * Handles a progress report of the worker that holds the job. Ignores the utterances unless `first` is the next
   * expected index.
   */
  beat(
    { seconds, first, utterances, language }: Pick<Beat, 'seconds' | 'first' | 'utterances' | 'language'>,
    now: number,
  ): void {
    this.heardAt = now
    if (seconds > 0) this.#options.onSeconds(seconds)
    if (first !== this.heard || utterances.length === 0) return
    this.heard += utterances.length
    this.#options.onUtterances?.(utterances, first, language ?? this.input.language ?? '')
  }

  /**
   * Ends the passing of this job to workers, because the server's own engine does the job. The server has claimed the
   * job for this engine, so a worker can no longer complete it. `fence` is the number of this claim.
   */
  takenBack(fence: number): void {
    this.#options.onClaim?.(fence)
    this.#options.onSeconds(0)
    this.#fail(new TakenBack())
  }

  finish(transcript: Transcript, peaks: Uint8Array | null): void {
    if (peaks) this.#options.onPeaks?.(peaks)
    this.#settle(transcript)
  }

  fail(error: unknown): void {
    this.#fail(error)
  }

  /** Ends the claim of the worker that holds the job. Another worker can then claim the job at once. */
  release(failure: Error): void {
    if (this.holder) {
      this.brokenOffFence = this.holder.fence
      this.brokenOffBy.add(workerName(this.holder.worker))
    }
    this.holder = null
    this.failure = failure
  }
}
