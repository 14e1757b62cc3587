// The work of a worker on one job: it claims the job, fetches the media, transcribes the media, and delivers the
// result.

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errorFields, log } from '../base/log.ts'
import { pause } from '../base/pause.ts'
import { reasonOf } from '../base/reason.ts'
import type { Engine } from '../engine/engine.ts'
import { JobFailure, jobErrors } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Transcript, Utterance } from '../transcripts/transcript.ts'
import type { ClaimAnswer, JobInput, ResultAnswer } from './answers.ts'
import { Beats, firstOf, intervalIn } from './beats.ts'
import type { Delivery } from './delivery.ts'
import { fetchMedia } from './media.ts'
import type { Claim, ResultMessage } from './requests.ts'
import type { Server } from './server.ts'

type Parts = { server: Server; engine: Engine; session: string; folder: string; leaseMs: number }

type Yours = Extract<ClaimAnswer, { kind: 'yours' }>

/**
 * The error that aborts an assignment (the work on one job) because the job has ended or was claimed by another worker.
 */
class Stopped extends Error {}

/**
 * The length of the recording, and the time that the worker needed for the job, both in seconds. Null if the worker
 * delivered no transcript.
 */
export type Outcome = { audioSeconds: number; workSeconds: number } | null

export class Assignment {
  readonly jobId: string
  /**
   * Resolves when this worker's work on the job has ended. Null means that no transcript was delivered. Never rejects.
   */
  readonly done: Promise<Outcome>
  /**
   * The number of this worker's claim of the job. A later claim has a higher number. 0 until the server has accepted
   * the claim.
   */
  fence = 0
  /** True after an error of this machine, such as a full disk. The next job would probably fail with the same error. */
  isOfMachine = false
  /**
   * The monotonic time at which the silence of the server began. Null if no request has failed since the last answer.
   * Silence during the engine's work does not count: if the server is silent when the engine finishes, this time is set
   * to the end of the engine's work.
   */
  #unansweredSince: number | null = null
  #isTranscribing = false
  readonly #parts: Parts
  readonly #claim: Claim
  readonly #stop = new AbortController()
  readonly #utterances: Utterance[] = []
  /** The language of the utterances. Empty if there are no utterances yet. */
  #language = ''
  #delivery: Delivery
  #seconds = 0
  /** The number of utterances of this job that the server has received from this worker. */
  #heard = 0

  constructor(delivery: Delivery, claim: Claim, parts: Parts) {
    this.jobId = delivery.jobId
    this.#delivery = delivery
    this.#claim = claim
    this.#parts = parts
    this.done = this.#run()
  }

  /**
   * Must be called if JetStream (the message queues of NATS) delivers a message of this job again. The worker then
   * sends its further answers (`keep`, `remove` or `giveBack`) for this delivery. The delivery may be of another
   * message, because the server may have put the job into another queue.
   */
  deliveredAgain(delivery: Delivery): void {
    this.#delivery = delivery
  }

  /**
   * Ends the work on this job, because the job has ended or was claimed by another worker. Removes the message of the
   * job from the stream.
   */
  stop(): void {
    this.#stop.abort(new Stopped())
  }

  /**
   * Ends the work on this job, because the worker stops. The message of the job stays in the NATS stream for another
   * worker.
   */
  leave(): void {
    this.#stop.abort(new Error('the worker ends'))
  }

  /**
   * The monotonic time since which this worker has waited for the server's answer about the job. Null if it does not
   * wait, or if the engine still works.
   */
  get waitsSince(): number | null {
    return this.#isTranscribing ? null : this.#unansweredSince
  }

  /** Claims the job, transcribes its media and delivers the result. */
  async #run(): Promise<Outcome> {
    // `keep` tells JetStream that the work continues. JetStream delivers the message of the job again if `keep` is not
    // called for `workerKeepMs`, or for `leaseMs` if `leaseMs` is shorter.
    const keepMs = intervalIn(this.#parts.leaseMs, limits.workerBeatMs)
    const keep = setInterval(() => this.#delivery.keep(), keepMs)
    try {
      const claim = await this.#claimJob()
      return claim === null ? null : await this.#work(claim)
    } catch (error) {
      const { aborted, reason } = this.#stop.signal
      if (!aborted) log.error('assignment broke', errorFields(error))
      else if (reason instanceof Stopped) this.#delivery.remove()
      return null
    } finally {
      clearInterval(keep)
    }
  }

  /** Claims the job at the server. Returns null if the server does not give the job to this worker. */
  async #claimJob(): Promise<Yours | null> {
    const answer = await this.#ask(timeoutMs => this.#parts.server.ask('claim', this.#claim, timeoutMs))
    if (answer.kind === 'yours') return answer
    if (answer.kind === 'over') this.#delivery.remove()
    else {
      const { afterMs = limits.workerRetryMsMax } = answer.kind === 'later' ? answer : {}
      this.#delivery.giveBack(afterMs)
    }
    if (answer.kind === 'refused') log.error('claim refused', { reason: answer.message })
    return null
  }

  async #work(claim: Yours): Promise<Outcome> {
    const { server, session, folder } = this.#parts
    const { jobId: job } = this
    this.fence = claim.fence
    const held = { session, job, fence: claim.fence, token: claim.token }
    const place = join(folder, `${job}.${claim.fence}`)
    const beats = new Beats(limits.workerBeatMs, () => this.#beat(held))
    const startedAt = performance.now()
    let result: Pick<ResultMessage, 'transcript' | 'peaks' | 'failure'>
    let audioSeconds = 0
    try {
      mkdirSync(place, { recursive: true, mode: 0o700 })
      const input = claim.input ?? (await this.#ask(() => server.fetchInput(held, this.#stop.signal)))
      audioSeconds = input.durationMs / 1000
      const path = await fetchMedia(server, held, claim.addresses, place, this.#stop.signal)
      this.#isTranscribing = true
      result = await this.#transcribe(path, input)
    } catch (error) {
      if (this.#stop.signal.aborted) throw error
      this.isOfMachine = !(error instanceof JobFailure)
      result = { failure: failureOf(error) }
    } finally {
      this.#isTranscribing = false
      // While a worker is being stopped, it gives up a job if the server does not answer for a long time (see
      // `waitsSince`). During the engine's work, the worker needs no answer, so the silence of that time must not
      // count. If the server is silent now, its silence is therefore measured from now on.
      if (this.#unansweredSince !== null) this.#unansweredSince = performance.now()
      removeMedia(place)
      await beats.close()
    }
    const workSeconds = (performance.now() - startedAt) / 1000
    while (result.transcript && this.#unreported().length > 0 && !this.#stop.signal.aborted)
      await this.#beat(held)
    const { kind } = await this.#deliver({ ...held, ...result })
    if (kind === 'again') this.#delivery.giveBack(limits.workerRetryMs)
    else this.#delivery.remove()
    if (kind === 'refused') log.warn('result refused', { job_id: job, fence: claim.fence })
    return result.transcript ? { audioSeconds, workSeconds } : null
  }

  async #transcribe(path: string, input: JobInput): Promise<{ transcript: Transcript; peaks?: string }> {
    let peaks: Uint8Array | null = null
    const transcript = await this.#parts.engine.transcribe(
      { ...input, path },
      {
        signal: this.#stop.signal,
        onSeconds: seconds => {
          this.#seconds = seconds
        },
        onUtterances: (utterances, first, language) => {
          this.#language = language
          this.#utterances.splice(first)
          this.#utterances.push(...utterances)
        },
        onPeaks: measured => {
          peaks = measured
        },
      },
    )
    return { transcript, ...(peaks ? { peaks: Buffer.from(peaks).toString('base64') } : {}) }
  }

  /**
   * Returns the utterances of the next report. If the next utterance is too large for a report, the report contains no
   * utterances. The server then gets the utterances with the result of the job, which contains all of them.
   */
  #unreported(): Utterance[] {
    return firstOf(this.#utterances.slice(this.#heard), this.#parts.server.reportBytesMax)
  }

  /**
   * Reports the progress to the server. The answer may contain the index of the next utterance to send, or the command
   * to stop.
   */
  async #beat(held: Pick<ResultMessage, 'session' | 'job' | 'fence' | 'token'>): Promise<void> {
    const utterances = this.#unreported()
    const report = { seconds: this.#seconds, first: this.#heard, utterances, language: this.#language }
    const beat = () => this.#parts.server.ask('beat', { ...held, ...report })
    const answer = await this.#answerTo(beat).catch(() => null)
    if (answer?.kind === 'stop') this.stop()
    if (answer?.kind === 'continue') this.#heard = answer.heard
    if (!answer || answer.kind === 'later') await pause(limits.workerRetryMs, this.#stop.signal)
  }

  /**
   * Sends the result of the job to the server. Repeats the request until the server gives another answer than `later`.
   * Rejects if the assignment is ended.
   */
  async #deliver(message: ResultMessage): Promise<ResultAnswer> {
    for (;;) {
      const answer = await this.#ask(timeoutMs =>
        this.#parts.server.deliver(message, this.#stop.signal, timeoutMs),
      )
      if (answer.kind !== 'later') return answer
      await pause(limits.workerRetryMsMax / 4, this.#stop.signal)
    }
  }

  /**
   * Repeats a request with exponential backoff until the server answers. The timeouts for `request` grow too. Waits
   * while there is no connection to NATS. Rejects if the assignment is ended.
   */
  async #ask<Answer>(request: (timeoutMs: number) => Promise<Answer>): Promise<Answer> {
    for (let pauseMs: number = limits.workerRetryMs; ; pauseMs *= 2) {
      try {
        return await this.#answerTo(() => request(limits.workerTimeoutsPerPause * pauseMs))
      } catch (error) {
        if (pauseMs >= limits.workerRetryMsMax)
          log.warn('server does not answer', { reason: reasonOf(error) })
        await pause(Math.min(pauseMs, limits.workerRetryMsMax), this.#stop.signal)
        await this.#parts.server.connected(this.#stop.signal)
      }
    }
  }

  /**
   * Sends a request. The first failure after an answer stores its time in `#unansweredSince`. An answer sets
   * `#unansweredSince` to null.
   */
  async #answerTo<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await request()
      this.#unansweredSince = null
      return answer
    } catch (error) {
      this.#unansweredSince ??= performance.now()
      throw error
    }
  }
}

/** Removes the media of a job. An error is only logged, because the result of the job must still be delivered. */
function removeMedia(place: string): void {
  try {
    rmSync(place, { recursive: true, force: true })
  } catch (error) {
    log.error('media not removed', errorFields(error))
  }
}

/**
 * Returns the failure that the worker reports to the server. An error that is not a JobFailure is a fault of this
 * machine: another worker may succeed.
 */
function failureOf(error: unknown): { code: JobFailure['code']; message: string } {
  if (error instanceof JobFailure) return { code: error.code, message: error.message }
  log.error('job broke', errorFields(error))
  return { code: 'INTERNAL_ERROR', message: jobErrors.INTERNAL_ERROR }
}
