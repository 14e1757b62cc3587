// The engine of the server. It starts the workers and gives each worker one job at a time. It replaces a worker that
// exited or timed out, and retries the job of that worker.

import { setTimeout } from 'node:timers/promises'
import { errorFields, log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { Engine, EngineState } from './engine.ts'
import { type ChosenModel, prepareModel } from './models/choose.ts'
import type { TranscribeInput, TranscribeOptions } from './request.ts'
import { type EngineSettings, Worker, WorkerExited, type WorkerOptions } from './worker.ts'

/**
 * The options of the supervisor. An option that is given replaces a default value. Most options are for tests; the
 * service sets `onCrash`, and `steno worker` sets `prepare`.
 */
export type SupervisorOptions = Omit<WorkerOptions, 'onExit'> & {
  jobsMax?: number
  retryMs?: number
  prepare?: typeof prepareModel
  after?: typeof after
  /** Called for each worker that exited although the supervisor did not stop it. */
  onCrash?: () => void
}

/** Calls `run` once, after a delay. Returns a function that cancels this call. */
function after(ms: number, run: () => void): () => void {
  const timer = globalThis.setTimeout(run, ms)
  return () => clearTimeout(timer)
}

export function openEngine(settings: EngineSettings, options: SupervisorOptions = {}): Engine {
  return new Supervisor(settings, options)
}

/** The message in the engine's state when no model can be loaded. */
const noModel = 'The engine has no model that it can load; the log and steno doctor say why.'

class Supervisor implements Engine {
  readonly capacity: number
  readonly #settings: EngineSettings
  readonly #options: SupervisorOptions
  readonly #prepare: typeof prepareModel
  readonly #workers = new Set<Worker>()
  readonly #idle: Worker[] = []
  readonly #waiting: ((worker: Worker) => void)[] = []
  readonly #readyListeners: (() => void)[] = []
  readonly #closing = new AbortController()
  #model: ChosenModel | null = null
  #languages: readonly string[] = []
  #translates: boolean | null = null
  #fault: string | null = null
  /**
   * True after the supervisor killed the idle workers because no job arrived for `idleUnloadMs`. The next job starts
   * workers again.
   */
  #isUnloaded = false
  #cancelUnload = () => {}
  #state: EngineState = {
    ready: false,
    message: 'The engine is starting.',
    model: null,
    device: null,
    diarization: 'The engine is starting.',
  }

  constructor(settings: EngineSettings, options: SupervisorOptions) {
    this.capacity = settings.workers ?? 1
    this.#settings = settings
    this.#options = options
    this.#prepare = options.prepare ?? prepareModel
    this.#start().catch(error => log.error('engine not started', errorFields(error)))
  }

  state(): EngineState {
    return this.#state
  }

  languages(): readonly string[] {
    return this.#languages
  }

  translates(): boolean | null {
    return this.#translates
  }

  onReady(listener: () => void): void {
    this.#readyListeners.push(listener)
  }

  async transcribe(input: TranscribeInput, options: TranscribeOptions): Promise<Transcript> {
    for (let tries = 1; ; tries++) {
      const worker = await this.#takeWorker(options.signal)
      try {
        return await worker.run(input, options)
      } catch (error) {
        if (!(error instanceof WorkerExited)) throw error
        this.#options.onCrash?.()
        log.error('engine worker exited during a job', { tries, pid: worker.pid, ...errorFields(error) })
        if (tries === limits.engineTriesMax) throw new JobFailure('PROCESSING_ERROR')
      } finally {
        this.#returnWorker(worker)
      }
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#cancelUnload()
    await Promise.all([...this.#workers].map(worker => worker.kill()))
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted
  }

  async #start(): Promise<void> {
    await this.#retry(() => this.#chooseModel())
    const notice = this.#model?.notice
    if (notice) log.warn('built-in model in use', { reason: notice })
    const workers = this.#addWorkers()
    await Promise.all(notice ? [...workers, this.#retryWantedModel()] : workers)
  }

  async #chooseModel(): Promise<boolean> {
    try {
      this.#model = await this.#prepare(this.#settings, message => this.#setState({ message }))
      return true
    } catch (error) {
      this.#logFault('no model', reasonOf(error))
      this.#setState({ message: noModel })
      return false
    }
  }

  /**
   * Waits until the default model is installed. Then starts workers with this model in place of the workers with the
   * built-in model. Running jobs continue with the built-in model.
   */
  async #retryWantedModel(): Promise<void> {
    while (!this.#closed) {
      await this.#sleep(this.#options.retryMs ?? limits.engineRetryMsMax)
      const model = this.#closed ? null : await this.#prepare(this.#settings, () => {}).catch(() => null)
      if (!model || model.notice) continue
      log.info('model replaced', { model: model.name })
      this.#model = model
      for (const worker of this.#idle.splice(0)) this.#replaceWorker(worker)
      return
    }
  }

  /** Starts as many workers as are missing: the number of workers becomes `capacity`. */
  #addWorkers(): Promise<void>[] {
    return Array.from({ length: this.capacity - this.#workers.size }, () => this.#addWorker())
  }

  /** Starts a worker. If the worker cannot load the model, starts another one, until a worker has loaded the model. */
  #addWorker(): Promise<void> {
    return this.#retry(async () => {
      if (this.#model === null || this.#workers.size >= this.capacity) return true
      return await this.#startWorker(this.#model)
    })
  }

  async #startWorker(model: ChosenModel): Promise<boolean> {
    const worker = new Worker(model, this.#settings, {
      ...this.#options,
      dataDir: this.#settings.dataDir,
      onExit: exited => this.#replaceIdleWorker(exited),
    })
    this.#workers.add(worker)
    try {
      const { device, variant, diarization, languages, translates, notes } = await worker.load()
      for (const note of notes) log.warn('engine limited', { reason: note })
      if (!this.#state.ready) {
        log.info('engine ready', { model: model.name, device, variant, threads: worker.threads })
        if (diarization !== 'ready') log.warn('no diarization', { reason: diarization })
      }
      if (model === this.#model) {
        this.#languages = languages
        this.#translates = translates
        this.#setState({
          ready: true,
          message: model.notice ?? 'ready',
          model: model.name,
          device,
          diarization,
        })
      }
      this.#returnWorker(worker)
      return true
    } catch (error) {
      this.#workers.delete(worker)
      await worker.kill()
      if (this.#closed) return false
      this.#logFault('engine not loaded', reasonOf(error))
      if (this.#workers.size === 0)
        this.#setState({ ready: false, message: noModel, model: model.name, device: null })
      return false
    }
  }

  /**
   * Logs a fault. A fault with the same reason as the last one is not logged again. The engine's state does not contain
   * the reason, because a reason can contain paths of this machine.
   */
  #logFault(event: string, reason: string): void {
    if (reason !== this.#fault) log.error(event, { error: reason })
    this.#fault = reason
  }

  #setState(change: Partial<EngineState>): void {
    const becameReady = change.ready === true && !this.#state.ready
    this.#state = { ...this.#state, ...change }
    if (becameReady) for (const listener of this.#readyListeners) listener()
  }

  /**
   * Returns an idle worker. If no worker is idle, waits for one. The job that has waited longest gets the first free
   * worker.
   */
  #takeWorker(signal: AbortSignal): Promise<Worker> {
    signal.throwIfAborted()
    this.#cancelUnload()
    const worker = this.#idle.shift()
    if (worker) return Promise.resolve(worker)
    if (this.#isUnloaded) this.#loadAgain()
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

  /**
   * Gives a worker that completed its job to the job that has waited longest. If no job waits, marks the worker as
   * idle. A worker is replaced if it exited, if it reached its maximum number of jobs, or if another model was chosen
   * since its start.
   */
  #returnWorker(worker: Worker): void {
    if (this.#closed) return
    const isDue = worker.jobs >= (this.#options.jobsMax ?? limits.engineJobsMax)
    if (isDue || !worker.alive || worker.model !== this.#model) {
      this.#replaceWorker(worker)
      return
    }
    const next = this.#waiting.shift()
    if (next) next(worker)
    else {
      this.#idle.push(worker)
      if (this.#idle.length === this.#workers.size) this.#scheduleUnload()
    }
  }

  #scheduleUnload(): void {
    const { idleUnloadMs } = this.#settings
    this.#cancelUnload()
    if (idleUnloadMs === null) return
    this.#cancelUnload = (this.#options.after ?? after)(idleUnloadMs, () => this.#unload())
  }

  /**
   * Kills the idle workers to free their memory. The engine stays ready: the next job starts a worker, and waits until
   * this worker has loaded the model.
   */
  #unload(): void {
    this.#isUnloaded = true
    log.info('engine unloaded', { workers: this.#idle.length })
    for (const worker of this.#idle.splice(0)) {
      this.#workers.delete(worker)
      worker.kill()
    }
  }

  #loadAgain(): void {
    this.#isUnloaded = false
    log.info('loading engine again')
    Promise.all(this.#addWorkers()).catch(error => log.error('engine not started', errorFields(error)))
  }

  /** Replaces a worker that exited while it was idle. A worker that exits during a job is replaced in `transcribe`. */
  #replaceIdleWorker(worker: Worker): void {
    const index = this.#idle.indexOf(worker)
    if (index < 0 || this.#closed) return
    this.#idle.splice(index, 1)
    this.#options.onCrash?.()
    log.error('idle engine worker exited', { pid: worker.pid })
    this.#replaceWorker(worker)
  }

  #replaceWorker(worker: Worker): void {
    this.#workers.delete(worker)
    worker.kill()
    this.#addWorker().catch(error => log.error('engine worker not replaced', errorFields(error)))
  }

  /** Calls `attempt` again and again, with exponential backoff, until it returns true or the engine is closed. */
  async #retry(attempt: () => Promise<boolean>): Promise<void> {
    for (let pauseMs = this.#options.retryMs ?? limits.engineRetryMs; !this.#closed; pauseMs *= 2) {
      if (await attempt()) return
      await this.#sleep(Math.min(pauseMs, limits.engineRetryMsMax))
    }
  }

  /** Waits for `ms` milliseconds. Returns earlier when the engine is closed. */
  async #sleep(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#closing.signal }).catch(() => {})
  }
}
