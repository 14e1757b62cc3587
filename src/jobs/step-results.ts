// Stores the results of the steps of a job in the database. A result that cannot be stored, for example because the
// disk is full, is stored later.

import { log } from '../base/log.ts'
import type { Db } from '../db/db.ts'
import { refusalOf } from '../db/refusal.ts'
import { failJob } from './end.ts'
import { failureOf } from './failure.ts'
import type { Job } from './job.ts'
import type { End } from './steps.ts'

export class StepResults {
  readonly #db: Db
  readonly #onEnd: (job: Job) => void
  /**
   * The work that `writeAll` does later. The key is the id of the job. The function `end` stores a result that the
   * database has refused, or starts a step again that failed because of the database.
   */
  readonly #unwritten = new Map<string, { job: Job; end: End }>()

  /** `onEnd` is called if storing a result has ended the job. */
  constructor(db: Db, onEnd: (job: Job) => void) {
    this.#db = db
    this.#onEnd = onEnd
  }

  /**
   * Stores the result of a step. If the database cannot be used, keeps the result for `writeAll`. After any other
   * error, the job fails. Returns true if this call has ended the job.
   */
  write(job: Job, end: End): boolean {
    this.#unwritten.delete(job.id)
    let ended: Job | null
    try {
      ended = this.#ended(job, end)
    } catch (error) {
      const refusal = refusalOf(error)
      if (!refusal) throw error
      log.warn('end not written', { job_id: job.id, database: refusal })
      this.keep(job, end)
      return false
    }
    if (ended) this.#onEnd(ended)
    return ended !== null
  }

  /** Keeps the function `end`, which stores a result or repeats a failed step. `writeAll` calls it later. */
  keep(job: Job, end: End): void {
    this.#unwritten.set(job.id, { job, end })
  }

  /**
   * Calls the functions that `keep` has stored. Each function stores the result of a step, or repeats a failed step. If
   * the database refuses a result again, continues with the other functions, because a full disk may refuse only one
   * long transcript. Returns true if the database has refused no result. A function may succeed without ending its job,
   * because the next step of the job follows, or because a command in another process ended the job earlier. `onOther`
   * is called with the id of each such job, so that the caller can stop its work if the job has ended.
   */
  writeAll(onOther: (jobId: string) => void): boolean {
    let isWritten = true
    for (const { job, end } of [...this.#unwritten.values()]) {
      const hasEnded = this.write(job, end)
      if (this.#unwritten.has(job.id)) isWritten = false
      else if (!hasEnded) onOther(job.id)
    }
    return isWritten
  }

  /** Discards a result that waits to be stored. Called when the job of this result has already ended. */
  discard(jobId: string): void {
    this.#unwritten.delete(jobId)
  }

  #ended(job: Job, end: End): Job | null {
    try {
      return end()
    } catch (error) {
      if (refusalOf(error)) throw error
      return failJob(this.#db, job.id, failureOf(job, error))
    }
  }
}
