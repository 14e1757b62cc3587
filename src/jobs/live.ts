// Notifies listeners in this process when a job changes. A listener gets the latest state of the job and its utterances
// so far.

import { errorFields, log } from '../base/log.ts'
import { LaterTurn } from '../base/next-turn.ts'
import type { Db } from '../db/db.ts'
import { refusalOf } from '../db/refusal.ts'
import { jobErrors } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Utterance } from '../transcripts/transcript.ts'
import { findJob, type Job } from './job.ts'
import { isTerminal } from './states.ts'

/**
 * A job, as its listeners see it. The fields change while the job runs. `utterances` has all utterances up to now, with
 * speakers only if the job splits channels: diarization finds the speakers only after the whole recording is read.
 * `language` is the language of the utterances. If the job had already ended when the listener was added, `utterances`
 * and `language` are empty.
 */
export type LiveJob = {
  readonly job: Job
  readonly utterances: readonly Utterance[]
  readonly language: string
}

export type Following = { live: LiveJob; leave(): void }

type Entry = {
  job: Job
  /**
   * The state of the job that its listeners know: the state at their last notification, or when the first listener was
   * added. If the job is still in this state, `changed` does not notify them again. Null before that.
   */
  told: Job | null
  utterances: Utterance[]
  language: string
  followers: Set<() => void>
  toldAt: number
  timer: Timer | null
}

export class LiveJobs {
  readonly #db: Db
  readonly #everyMs: number
  /**
   * Running jobs, by their ids. A job gets an entry when a listener or utterances are added to it. The entry is removed
   * when the job ends. An entry without utterances and without a pending notification is removed when its last listener
   * leaves.
   */
  readonly #entries = new Map<string, Entry>()
  /** Continues a call of `refresh` with the next jobs, in a later turn of the event loop. */
  readonly #nextPage = new LaterTurn()
  #isClosed = false

  constructor(db: Db, { everyMs = limits.liveEveryMs }: { everyMs?: number } = {}) {
    this.#db = db
    this.#everyMs = everyMs
  }

  /**
   * Notifies the listeners if a job has changed, at most once in `everyMs` milliseconds. The end of a job is reported
   * at once.
   */
  changed(jobId: string): void {
    const entry = this.#entries.get(jobId)
    if (this.#isClosed || !entry) return
    const job = this.#read(jobId)
    if (!job) return
    if (Bun.deepEquals(job, entry.told)) return
    if (isTerminal(job.state)) this.#tell(entry)
    else if (entry.timer === null) {
      const waitMs = Math.max(0, entry.toldAt + this.#everyMs - performance.now())
      if (waitMs === 0) this.#tell(entry)
      else entry.timer = setTimeout(() => this.#tell(entry), waitMs)
    }
  }

  /**
   * Adds utterances to a running job. `first` is the index of the first of them in the transcript. It is 0 when the
   * engine starts a job again: the given utterances then replace all earlier ones. `language` is the language of their
   * texts.
   */
  heard(job: Job, utterances: readonly Utterance[], first: number, language: string): void {
    const entry = this.#entryOf(job)
    entry.language = language
    entry.utterances.splice(first)
    entry.utterances.push(...utterances)
    for (const onChange of entry.followers) attempt(onChange)
  }

  /**
   * Calls `onChange` when the job has changed or has further utterances. The methods `refresh` and `close` call it too,
   * even if the job has not changed. To stop the calls, call `leave` of the result. If the job has already ended,
   * `onChange` is never called. `job` counts as the latest state of the job, so it must have just been read from the
   * database.
   */
  follow(job: Job, onChange: () => void): Following {
    if (isTerminal(job.state)) {
      this.changed(job.id)
      return { live: { job, utterances: [], language: '' }, leave: () => {} }
    }
    const entry = this.#entryOf(job)
    renew(entry, job)
    entry.told ??= entry.job
    entry.followers.add(onChange)
    return {
      live: entry,
      leave: () => {
        entry.followers.delete(onChange)
        if (entry.followers.size === 0 && entry.utterances.length === 0 && entry.timer === null)
          this.#entries.delete(job.id)
      },
    }
  }

  /**
   * Resolves when the job has ended, when `signal` is aborted, or when the service stops. `job` counts as the latest
   * state of the job, so it must have just been read from the database.
   */
  async ended(job: Job, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { live, leave } = this.follow(job, () => {
      if (this.#isClosed || isTerminal(live.job.state)) resolve()
    })
    if (isTerminal(live.job.state) || signal.aborted || this.#isClosed) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
    await promise
    leave()
  }

  /**
   * Reads all jobs with listeners from the database again, because another process may have changed them. Calls every
   * listener of a job, also without a change: an event stream then checks whether its caller may still read the job.
   * After `refreshCallsPerTurn` calls, continues in a later turn of the event loop. Does nothing while an earlier call
   * still continues.
   */
  refresh(): void {
    if (!this.#nextPage.isPlanned) this.#refreshPage([...this.#entries.keys()].values())
  }

  #refreshPage(jobIds: Iterator<string>): void {
    for (let calls = 0; calls < limits.refreshCallsPerTurn; ) {
      const { value: jobId } = jobIds.next()
      if (jobId === undefined) return
      this.changed(jobId)
      const followers = [...(this.#entries.get(jobId)?.followers ?? [])]
      for (const onChange of followers) attempt(onChange)
      calls += followers.length
    }
    this.#nextPage.plan(() => attempt(() => this.#refreshPage(jobIds)))
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Stops the notifications, and calls all listeners of jobs a last time, so that they can end. */
  close(): void {
    this.#isClosed = true
    this.#nextPage.cancel()
    for (const { timer, followers } of this.#entries.values()) {
      if (timer) clearTimeout(timer)
      for (const onChange of followers) attempt(onChange)
    }
  }

  #entryOf(job: Job): Entry {
    const known = this.#entries.get(job.id)
    if (known) return known
    const entry: Entry = {
      job,
      told: null,
      utterances: [],
      language: '',
      followers: new Set(),
      toldAt: Number.NEGATIVE_INFINITY,
      timer: null,
    }
    this.#entries.set(job.id, entry)
    return entry
  }

  #tell(entry: Entry): void {
    if (entry.timer) clearTimeout(entry.timer)
    entry.timer = null
    entry.toldAt = performance.now()
    renew(entry, this.#read(entry.job.id) ?? entry.job)
    entry.told = entry.job
    const { job, followers } = entry
    for (const onChange of followers) attempt(onChange)
    if (isTerminal(job.state)) this.#entries.delete(job.id)
  }

  /**
   * Reads the present state of a job from the database. A job that has an entry here, but is no longer in the database,
   * was erased. It is returned as cancelled. Returns null if the job is unknown or the database cannot be used.
   */
  #read(jobId: string): Job | null {
    try {
      const job = findJob(this.#db, jobId)
      const last = this.#entries.get(jobId)?.job
      return job ?? (last ? cancelled(last, this.#db.now()) : null)
    } catch (error) {
      const refusal = refusalOf(error)
      if (!refusal) throw error
      log.warn('change not told', { job_id: jobId, database: refusal })
      return null
    }
  }
}

/**
 * Replaces `entry.job` by `job` if their contents differ. A stream to a client sends the job again whenever `entry.job`
 * is another object.
 */
function renew(entry: Entry, job: Job): void {
  if (!Bun.deepEquals(entry.job, job)) entry.job = job
}

function cancelled(job: Job, now: number): Job {
  const [errorCode, errorMessage] = ['CANCELLED' as const, jobErrors.CANCELLED]
  return { ...job, state: 'failed', status: 'failed', errorCode, errorMessage, completedAt: now }
}

/**
 * Calls a function, such as a listener. An error of the function is only logged, so that it does not make the job fail.
 */
function attempt(call: () => void): void {
  try {
    call()
  } catch (error) {
    log.error('listener failed', errorFields(error))
  }
}
