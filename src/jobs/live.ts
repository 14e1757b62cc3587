// Notifies listeners in this process of the changes of jobs. A listener gets the latest state of a job and the
// complete utterances. The state comes from the database; the utterances are only in memory.

import { errorFields, log } from '../base/log.ts'
import { type Db, refusalOf } from '../db/db.ts'
import { limits } from '../limits.ts'
import type { Utterance } from '../transcripts/transcript.ts'
import { findJob, type Job } from './job.ts'
import { isTerminal } from './states.ts'

/**
 * A running job for its listeners. Both fields change while the job runs. `utterances` contains the utterances from
 * the start of the recording, without speakers. The array keeps its content after the end of the job.
 */
export type LiveJob = { readonly job: Job; readonly utterances: readonly Utterance[] }

export type Following = { live: LiveJob; leave(): void }

type Entry = {
  job: Job
  /** The job at the last notification of the listeners. Null before the first notification. */
  told: Job | null
  utterances: Utterance[]
  followers: Set<() => void>
  toldAt: number
  timer: Timer | null
}

export class LiveJobs {
  readonly #db: Db
  readonly #everyMs: number
  /** The jobs that have listeners, utterances, or a change whose notification is pending. */
  readonly #entries = new Map<string, Entry>()
  readonly #accounts = new Map<string, Set<(job: Job) => void>>()
  #isClosed = false

  constructor(db: Db, { everyMs = limits.liveEveryMs }: { everyMs?: number } = {}) {
    this.#db = db
    this.#everyMs = everyMs
  }

  /**
   * Notifies the listeners of a change of a job. Each job causes at most one notification per `everyMs`, with the
   * latest state of the job. The end of a job is notified immediately.
   */
  changed(jobId: string): void {
    if (this.#isClosed || (!this.#entries.has(jobId) && this.#accounts.size === 0)) return
    const job = this.#read(jobId)
    if (!job) return
    const entry = this.#entryOf(job)
    if (Bun.deepEquals(job, entry.told)) return
    if (isTerminal(job.state)) this.#tell(entry)
    else if (entry.timer === null) {
      const waitMs = Math.max(0, entry.toldAt + this.#everyMs - performance.now())
      if (waitMs === 0) this.#tell(entry)
      else entry.timer = setTimeout(() => this.#tell(entry), waitMs)
    }
  }

  /**
   * Adds utterances of a running job. `first` is the index of the first utterance in the array. When the engine runs
   * a job again, `first` is 0, so the new utterances replace all earlier utterances.
   */
  heard(job: Job, utterances: readonly Utterance[], first: number): void {
    const entry = this.#entryOf(job)
    entry.utterances.splice(first)
    entry.utterances.push(...utterances)
    for (const onChange of entry.followers) attempt(onChange)
  }

  /**
   * Calls `onChange` after each change of the job, until the caller calls `leave`. A job that has ended does not
   * change, so `onChange` is never called for it. Returns null when no job has this id.
   */
  follow(jobId: string, onChange: () => void): Following | null {
    const job = this.#read(jobId)
    if (!job) return null
    if (isTerminal(job.state)) {
      this.changed(jobId)
      return { live: { job, utterances: [] }, leave: () => {} }
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
          this.#entries.delete(jobId)
      },
    }
  }

  /** Calls `onChange` with each job of the account after its change. Returns a function that stops the calls. */
  followAccount(accountId: string, onChange: (job: Job) => void): () => void {
    const followers = this.#accounts.get(accountId) ?? new Set()
    this.#accounts.set(accountId, followers.add(onChange))
    return () => {
      followers.delete(onChange)
      if (followers.size === 0) this.#accounts.delete(accountId)
    }
  }

  /** Resolves when the job has ended, when `signal` is aborted, or when the service stops. */
  async ended(jobId: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const following = this.follow(jobId, () => {
      if (this.#isClosed || (following && isTerminal(following.live.job.state))) resolve()
    })
    if (!following || isTerminal(following.live.job.state) || signal.aborted || this.#isClosed) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
    await promise
    following?.leave()
  }

  /**
   * Reads all jobs that have listeners from the database, because a command in another process may have changed the
   * jobs. Then calls every listener, even if its job did not change.
   */
  refresh(): void {
    for (const { job, followers } of [...this.#entries.values()]) {
      this.changed(job.id)
      for (const onChange of followers) attempt(onChange)
    }
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Calls the listeners of all jobs for the last time, before the server stops. */
  close(): void {
    this.#isClosed = true
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
    for (const onChange of this.#accounts.get(job.accountId) ?? []) attempt(() => onChange(job))
    if (isTerminal(job.state)) this.#entries.delete(job.id)
  }

  /** Reads a job. Returns null when the database is locked or full, so that the failed read does not fail the job. */
  #read(jobId: string): Job | null {
    try {
      return findJob(this.#db, jobId)
    } catch (error) {
      const refusal = refusalOf(error)
      if (!refusal) throw error
      log.warn('change not told', { job_id: jobId, database: refusal })
      return null
    }
  }
}

/** Replaces `entry.job` only by a different job. A stream compares job objects, so an equal job would be sent twice. */
function renew(entry: Entry, job: Job): void {
  if (!Bun.deepEquals(entry.job, job)) entry.job = job
}

/** Calls a listener. Logs an error of the listener, so that the error does not fail the job. */
function attempt(call: () => void): void {
  try {
    call()
  } catch (error) {
    log.error('listener failed', errorFields(error))
  }
}
