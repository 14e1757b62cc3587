// Starts the recognition of jobs: of interrupted jobs first, and then of pending jobs. A lost media file is downloaded
// again before the recognition, if that is possible.

import { LaterTurn } from '../base/next-turn.ts'
import type { Db } from '../db/db.ts'
import { unlessRefused } from '../db/refusal.ts'
import type { Engine } from '../engine/engine.ts'
import type { Needs } from '../engine/request.ts'
import { limits } from '../limits.ts'
import type { Job } from './job.ts'
import { startJob, startNextJob } from './queue.ts'

type Parts = {
  db: Db
  engine: Engine
  /** Recognises the speech of a job. Resolves at the end of the recognition, and never rejects. */
  recognise: (job: Job) => Promise<void>
  /** Called when the engine has free capacity for a job, directly before the recognition of this job. */
  onStart: (job: Job) => void
  /** Returns true if a job must download its media file again, because the file is lost. */
  isMediaLost: (job: Job) => boolean
  /** Downloads the media of a job again. The job is already in the state `downloading`. */
  download: (job: Job) => void
}

export class Recognitions {
  readonly #parts: Parts
  /**
   * Jobs in the state `processing` whose recognition was interrupted, for example by a restart. They are started before
   * the pending jobs.
   */
  readonly #interrupted = new Map<string, Job>()
  #running = 0
  /** Plans the next call of `pump`, in a later turn of the event loop. */
  readonly #laterStarts = new LaterTurn()
  #isClosed = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Starts the recognition of interrupted jobs, and then of pending jobs, until the engine has no free capacity. If the
   * media file of a job is lost, starts a new download of this file instead, but at most `downloadsMax` downloads in
   * one call. After `recognitionStartsMax` recognitions, continues in a later turn of the event loop.
   */
  pump(): void {
    const { onStart, download } = this.#parts
    let starts = 0
    for (let downloads = 0; downloads < limits.downloadsMax && this.#hasFreePlace(); ) {
      if (starts === limits.recognitionStartsMax) {
        this.#laterStarts.plan(() => this.pump())
        return
      }
      const job = unlessRefused(() => this.#startNext())
      if (!job) return
      if (job.state === 'downloading') {
        downloads += 1
        download(job)
      } else {
        starts += 1
        onStart(job)
        this.#start(job)
      }
    }
  }

  /**
   * Continues a job in the state `processing`. A worker on another machine may still work on the job. In this case, the
   * job is passed to the engine at once, also without free capacity, because the engine first waits for the result of
   * this worker. Any other job waits until the engine has free capacity.
   */
  resume(job: Job): void {
    const { id: jobId, worker, fence, attempts } = job
    if (this.#parts.engine.mayBeHeld?.({ jobId, worker, fence, attempts })) this.#start(job)
    else this.#interrupted.set(jobId, job)
  }

  /** Returns the ids of the interrupted jobs that wait until the engine has free capacity for them. */
  waitingJobs(): string[] {
    return [...this.#interrupted.keys()]
  }

  /** Removes an ended job from the list of interrupted jobs. */
  forget(jobId: string): void {
    this.#interrupted.delete(jobId)
  }

  /** Prevents the start of further recognitions. */
  close(): void {
    this.#isClosed = true
  }

  #hasFreePlace(): boolean {
    const { engine } = this.#parts
    return !this.#isClosed && engine.state().ready && this.#running < engine.capacity
  }

  /** Starts the next job for which the engine has free capacity. Returns null if there is none. */
  #startNext(): Job | null {
    const { db, engine, isMediaLost } = this.#parts
    const job = this.#findInterrupted()
    if (!job) return startNextJob(db, needs => hasRoomFor(engine, needs), isMediaLost)
    const started = isMediaLost(job) ? startJob(db, job, 'downloading') : job
    this.#interrupted.delete(job.id)
    return started
  }

  /** Returns the first interrupted job for which the engine has free capacity, or null. */
  #findInterrupted(): Job | null {
    for (const job of this.#interrupted.values()) if (hasRoomFor(this.#parts.engine, job)) return job
    return null
  }

  #start(job: Job): void {
    this.#running += 1
    this.#parts.recognise(job).then(() => {
      this.#running -= 1
      this.pump()
    })
  }
}

function hasRoomFor(engine: Engine, needs: Needs): boolean {
  return engine.hasRoomFor?.(needs) ?? true
}
