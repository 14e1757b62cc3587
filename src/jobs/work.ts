// Keeps the running step of each job in memory, so that the runner can abort the step. The steps of a job are in
// steps.ts.

import { errorFields, log } from '../base/log.ts'

type Piece = { stop: AbortController; done: Promise<void> }

export class WorkUnderWay {
  readonly #pieces = new Map<string, Piece>()

  /** Runs a step of a job. The returned promise never rejects: an error of the step is logged. */
  run(jobId: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const stop = new AbortController()
    const done = work(stop.signal)
      .catch(error => log.error('job not ended', { job_id: jobId, ...errorFields(error) }))
      .finally(() => {
        if (this.#pieces.get(jobId) === piece) this.#pieces.delete(jobId)
      })
    const piece = { stop, done }
    this.#pieces.set(jobId, piece)
    return done
  }

  /** Returns the ids of the jobs with a running step, except aborted steps that have not ended yet. */
  jobIds(): string[] {
    return [...this.#pieces].filter(([, { stop }]) => !stop.signal.aborted).map(([jobId]) => jobId)
  }

  stop(jobId: string): void {
    this.#pieces.get(jobId)?.stop.abort(new Error('the job has ended'))
  }

  async stopAll(): Promise<void> {
    for (const { stop } of this.#pieces.values()) stop.abort(new Error('the service is stopping'))
    await Promise.all([...this.#pieces.values()].map(({ done }) => done))
  }
}
