// A hand-over: one job that the server passes to workers. The server announces the job by a message in a stream of
// JetStream, the message store of NATS. A hand-over stores the place of this message, and which worker holds the job.

import type { HandOver as Facts, TranscribeInput, TranscribeOptions } from '../engine/request.ts'
import { limits } from '../limits.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { JobInput } from './answers.ts'
import type { Beat } from './requests.ts'
import { workerName } from './roster.ts'

/**
 * The worker that made the last claim of a job. `fence` is the number of this claim. JetStream may deliver the message
 * of a job several times. `delivery` is 1 if the worker made the claim after the first delivery, 2 after the second
 * one, and so on. The database does not store `delivery`. So it is 0 if the server has restarted since the claim.
 */
export type Holder = { worker: string; fence: number; delivery: number }

/** The error with which a hand-over ends if the server's own engine must do the job, because no worker can do it. */
export class TakenBack extends Error {}

export class HandOver {
  readonly jobId: string
  readonly input: JobInput
  readonly durationMs: number
  readonly done: Promise<Transcript>
  /**
   * The place of the job's message in the stream of JetStream. `pool` is the group of workers (with the same abilities)
   * whose queue has the message. `sequence` is the number of the newest message that JetStream is known to have
   * accepted for this pool, or 0 if there is none yet. `place` is null if this server process has put no message of the
   * job into the stream.
   */
  place: { pool: string; sequence: number } | null = null
  holder: Holder | null
  /**
   * The worker that made the last claim of the job, also after the end of this claim. Null if no such claim is known.
   */
  lastWorker: string | null
  attempts: number
  /**
   * The time, by the monotonic clock, from which the silence of the worker that holds the job is counted. Usually the
   * time of its last report, claim or message `hello`.
   */
  heardAt: number
  /** The number of utterances of this job that the server has received since the last claim of the job. */
  heard = 0
  /**
   * The last failure that was caused by the machine of a worker. After such a failure, another worker may still
   * succeed. Null if there was no such failure.
   */
  failure: Error | null = null
  /** The number of the claim that ended with `failure`. 0 if `failure` is null. */
  brokenOffFence = 0
  /** The names of the workers whose machines have failed on the job. */
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

  /** False if the job was given to workers the maximum number of times. */
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
   * Handles a progress report of the worker that holds the job. The utterances in the report are used only if they
   * directly follow the last utterance that this worker has reported since it claimed the job.
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

  /** Ends the hand-over, because the server's own engine does the job. `fence` is the number of the server's claim. */
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

  /** Ends the claim of the worker that holds the job, so that another worker can claim the job at once. */
  release(failure: Error): void {
    if (this.holder) {
      this.brokenOffFence = this.holder.fence
      this.brokenOffBy.add(workerName(this.holder.worker))
    }
    this.holder = null
    this.failure = failure
  }
}
