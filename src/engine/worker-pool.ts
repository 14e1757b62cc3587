// The workers of the engine. The pool starts the workers, gives each worker one job at a time, and replaces workers
// that exited. It kills all workers after `idleUnloadMs` without jobs, unless this setting is null.

import { unpackCarried } from '../base/carried.ts'
import { errorFields, log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import { limits } from '../limits.ts'
import { type ChosenModel, gpusFor } from './models/serving.ts'
import type { LoadedFacts } from './protocol.ts'
import type { Retries } from './retries.ts'
import type { EngineStatus } from './status.ts'
import { type EngineSettings, Worker, type WorkerOptions } from './worker.ts'
import { WorkerQueue } from './worker-queue.ts'

export type PoolOptions = Omit<WorkerOptions, 'onExit' | 'gpu'> & {
  jobsMax?: number
  /**
   * The NVIDIA GPUs for the workers, each as a value of CUDA_VISIBLE_DEVICES. Only tests set them. By default, the
   * settings and the machine decide.
   */
  gpus?: readonly string[]
  after?: typeof after
  /**
   * Called when an engine worker (a child process) exits unexpectedly while it is idle. Also called when a worker exits
   * during a job that was not aborted.
   */
  onCrash?: () => void
}

/** Calls `run` once, after a delay. Returns a function that cancels this call. */
function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

export class WorkerPool {
  readonly capacity: number
  /** The model that new workers load. Null until a model is chosen. */
  model: ChosenModel | null = null
  languages: readonly string[] = []
  translates: boolean | null = null
  readonly #settings: EngineSettings
  readonly #options: PoolOptions
  readonly #status: EngineStatus
  readonly #retries: Retries
  readonly #workers = new Set<Worker>()
  /** The number of workers in `#workers` that have not loaded their model yet. */
  #loading = 0
  readonly #queue = new WorkerQueue()
  /** The GPUs, of which each worker gets one. Empty if there is only one GPU or none. */
  readonly #gpus: readonly string[]
  /**
   * True after all workers were killed because they were idle for `idleUnloadMs`. The next job starts workers again.
   */
  #isUnloaded = false
  #cancelUnload = () => {}

  constructor(
    settings: EngineSettings,
    options: PoolOptions,
    { status, retries }: { status: EngineStatus; retries: Retries },
  ) {
    const gpus = options.gpus ?? gpusFor(settings)
    this.#gpus = gpus.length > 1 ? gpus : []
    this.capacity = settings.workers ?? Math.max(1, this.#gpus.length)
    this.#settings = { ...settings, workers: this.capacity }
    this.#options = options
    this.#status = status
    this.#retries = retries
  }

  /** Starts the missing workers, so that there are `capacity` workers. */
  addWorkers(): Promise<void>[] {
    return Array.from({ length: this.capacity - this.#workers.size }, () => this.#addWorker())
  }

  /**
   * Replaces the idle workers (engine child processes) with new workers that load another model. Running jobs continue
   * with the old model.
   */
  replaceModel(model: ChosenModel): void {
    this.model = model
    for (const worker of this.#queue.takeAllIdle()) this.#replaceWorker(worker)
  }

  /** Returns an idle worker. If no worker is idle, waits for one. */
  take(signal: AbortSignal): Promise<Worker> {
    signal.throwIfAborted()
    this.#cancelUnload()
    const worker = this.#queue.takeIdle()
    if (worker) return Promise.resolve(worker)
    if (this.#isUnloaded) this.#loadAgain()
    return this.#queue.wait(signal)
  }

  /**
   * Called when a worker has loaded its model or ended a job. Gives the worker to the job that has waited longest, or
   * makes the worker idle. Replaces a worker that exited, reached its maximum number of jobs, or has an old model. Does
   * nothing after the engine is closed.
   */
  giveBack(worker: Worker): void {
    if (this.#retries.closed) return
    const isDue = worker.jobs >= (this.#options.jobsMax ?? limits.engineJobsMax)
    if (isDue || !worker.alive || worker.model !== this.model) this.#replaceWorker(worker)
    else this.#queue.add(worker)
    // All workers are unloaded when none of them has had a job for a while. A worker that is still loading its model
    // does not delay this, because loading may never end.
    const { idle } = this.#queue
    if (idle > 0 && idle === this.#workers.size - this.#loading) this.#scheduleUnload()
  }

  async close(): Promise<void> {
    this.#cancelUnload()
    await Promise.all([...this.#workers].map(worker => worker.kill()))
  }

  /** Starts workers, one after another, until one of them has loaded the model, or until no worker is needed. */
  #addWorker(): Promise<void> {
    return this.#retries.run(async () => {
      if (!this.#needsWorker()) return true
      if (!(await this.#hasCarriedFiles())) return false
      if (this.model === null || !this.#needsWorker()) return true
      return await this.#startWorker(this.model)
    })
  }

  #needsWorker(): boolean {
    return !this.#retries.closed && !this.#isUnloaded && this.#workers.size < this.capacity
  }

  /** Returns true if the files that an engine process needs are on the disk, or could be unpacked. */
  async #hasCarriedFiles(): Promise<boolean> {
    try {
      await unpackCarried()
      return true
    } catch (error) {
      this.#noteUnstarted(error)
      return false
    }
  }

  /** Starts a worker that loads `model`. Returns true if the worker has loaded the model, or is no longer needed. */
  async #startWorker(model: ChosenModel): Promise<boolean> {
    const worker = this.#newWorker(model)
    if (!worker) return false
    try {
      const { device, variant, diarization, languages, translates, notes } = await this.#loaded(worker)
      const { gpu } = worker
      for (const note of notes) log.warn('engine limited', { reason: note, ...(gpu === null ? {} : { gpu }) })
      if (!this.#status.state.ready) {
        const { threads } = worker
        log.info('engine ready', { model: model.name, device, variant, threads, engines: this.capacity })
        if (diarization !== 'ready') log.warn('no diarization', { reason: diarization })
      }
      if (model === this.model) {
        this.languages = languages
        this.translates = translates
        const message = model.notice ?? 'ready'
        this.#status.change({ ready: true, message, model: model.name, device, diarization })
      }
      this.giveBack(worker)
      return true
    } catch (error) {
      const isNeeded = this.#workers.delete(worker)
      await worker.kill()
      if (this.#retries.closed || !isNeeded) return true
      this.#status.logFault('engine not loaded', reasonOf(error))
      if (this.#workers.size === 0) this.#status.hasNoModel({ ready: false, model: model.name, device: null })
      return false
    }
  }

  /** Waits until a new worker has loaded its model. Rejects if the worker cannot load the model. */
  async #loaded(worker: Worker): Promise<LoadedFacts> {
    this.#loading++
    try {
      return await worker.load()
    } finally {
      this.#loading--
    }
  }

  /** Starts the child process of a new worker. Returns null if the process cannot be started. */
  #newWorker(model: ChosenModel): Worker | null {
    try {
      const worker = new Worker(model, this.#settings, {
        ...this.#options,
        dataDir: this.#settings.dataDir,
        gpu: this.#freestGpu(),
        onExit: exited => this.#replaceIdleWorker(exited),
      })
      this.#workers.add(worker)
      return worker
    } catch (error) {
      this.#noteUnstarted(error)
      return null
    }
  }

  /**
   * Logs why a worker cannot be started. If there is no other worker, the engine's state says that no engine process
   * can be started. Does nothing if no worker is needed any more.
   */
  #noteUnstarted(error: unknown): void {
    if (!this.#needsWorker()) return
    this.#status.logFault('engine process not started', reasonOf(error))
    if (this.#workers.size === 0) this.#status.hasNoProcess()
  }

  /**
   * Returns the GPU that the fewest workers use. If there is only one GPU or none, there is no choice: `#gpus` is
   * empty, and this method returns null. A worker without a chosen GPU may use all GPUs, so it also uses a single GPU.
   */
  #freestGpu(): string | null {
    const workersOn = (gpu: string) => [...this.#workers].filter(worker => worker.gpu === gpu).length
    return this.#gpus.toSorted((a, b) => workersOn(a) - workersOn(b))[0] ?? null
  }

  #scheduleUnload(): void {
    const { idleUnloadMs } = this.#settings
    this.#cancelUnload()
    if (idleUnloadMs === null) return
    this.#cancelUnload = (this.#options.after ?? after)(idleUnloadMs, () => this.#unload())
  }

  /**
   * Kills all engine workers (child processes) to free their memory. Called when no worker has a job. The next job
   * starts new workers.
   */
  #unload(): void {
    this.#isUnloaded = true
    log.info('engine unloaded', { workers: this.#queue.takeAllIdle().length })
    for (const worker of this.#workers) worker.kill()
    this.#workers.clear()
  }

  #loadAgain(): void {
    this.#isUnloaded = false
    log.info('loading engine again')
    Promise.all(this.addWorkers()).catch(error => log.error('engine not started', errorFields(error)))
  }

  /** Replaces a worker that exited while it was idle. A worker that exits during a job is replaced by `giveBack`. */
  #replaceIdleWorker(worker: Worker): void {
    if (this.#retries.closed || !this.#queue.remove(worker)) return
    this.#options.onCrash?.()
    log.error('idle engine worker exited', { pid: worker.pid })
    this.#replaceWorker(worker)
  }

  #replaceWorker(worker: Worker): void {
    this.#workers.delete(worker)
    worker.kill()
    this.#addWorker().catch(error => log.error('engine worker not replaced', errorFields(error)))
  }
}
