// The idle workers, and the jobs that wait for a worker. The job that has waited longest gets the first free worker.

import type { Worker } from './worker.ts'

export class WorkerQueue {
  readonly #idle: Worker[] = []
  readonly #waiting: ((worker: Worker) => void)[] = []

  /** The number of idle workers. A worker is an engine child process. */
  get idle(): number {
    return this.#idle.length
  }

  /** Gives a free worker to the job that has waited longest. If no job waits, the worker becomes idle. */
  add(worker: Worker): void {
    const next = this.#waiting.shift()
    if (next) next(worker)
    else this.#idle.push(worker)
  }

  takeIdle(): Worker | undefined {
    return this.#idle.shift()
  }

  takeAllIdle(): Worker[] {
    return this.#idle.splice(0)
  }

  /** Removes a worker if it is idle. Returns true if the worker was idle. */
  remove(worker: Worker): boolean {
    const index = this.#idle.indexOf(worker)
    if (index >= 0) this.#idle.splice(index, 1)
    return index >= 0
  }

  /** Waits for a free worker. Rejects with the reason of the signal when the signal is aborted. */
  wait(signal: AbortSignal): Promise<Worker> {
    const { promise, resolve, reject } = Promise.withResolvers<Worker>()
    const give = (worker: Worker) => {
      signal.removeEventListener('abort', leave)
      resolve(worker)
    }
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(give), 1)
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#waiting.push(give)
    return promise
  }
}
