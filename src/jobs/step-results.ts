// Stores the results of the two steps of a job (preparing its media, and recognising its speech) in the database. A
// result that the database refuses is stored later.

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
   * The functions that `writeAll` calls later, because the database could not be used (see `refusalOf`). The keys are
   * the ids of the jobs. A function `end` stores the result of a step (preparing the media, or recognising the speech),
   * or repeats a failed step.
   */
  readonly #unwritten = new Map<string, { job: Job; end: End }>()

  /** `onEnd` is called if storing a result has ended the job. */
  constructor(db: Db, onEnd: (job: Job) => void) {
    this.#db = db
    this.#onEnd = onEnd
  }

  /**
   * Stores the result of a step. If the database cannot be used at the moment, keeps the result for `writeAll`. If
   * storing the result causes any other error, the job fails.
   */
  write(job: Job, end: End): void {
    this.#unwritten.delete(job.id)
    try {
      const ended = this.#ended(job, end)
      if (ended) this.#onEnd(ended)
    } catch (error) {
      const refusal = refusalOf(error)
      if (!refusal) throw error
      log.warn('end not written', { job_id: job.id, database: refusal })
      this.keep(job, end)
    }
  }

  /** Keeps the function `end`, which stores a result or repeats a failed step. `writeAll` calls it later. */
  keep(job: Job, end: End): void {
    this.#unwritten.set(job.id, { job, end })
  }

  /**
   * Stores the results of job steps that could not be stored earlier, and repeats the failed steps that were kept.
   * Stops at the first failure, and returns false if the database still cannot be used.
   */
  writeAll(): boolean {
    for (const { job, end } of [...this.#unwritten.values()]) {
      this.write(job, end)
      if (this.#unwritten.has(job.id)) return false
    }
    return true
  }

  /** Called when a job has already ended. If a result of the job waits to be stored, discards this result. */
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
