// The engine of the server. It chooses the model, and gives each job to a worker (an engine child process). A job whose
// worker exited or timed out is retried once.

import { errorFields, log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { Engine, EngineState } from './engine.ts'
import { prepareModel } from './models/choose.ts'
import { WorkerExited } from './process.ts'
import type { TranscribeInput, TranscribeOptions } from './request.ts'
import { Retries } from './retries.ts'
import { EngineStatus } from './status.ts'
import type { EngineSettings } from './worker.ts'
import { type PoolOptions, WorkerPool } from './worker-pool.ts'

/**
 * The options of the supervisor. Most of these options are for tests. The server sets `onCrash`, and `steno worker`
 * sets `prepare`.
 */
export type SupervisorOptions = PoolOptions & { retryMs?: number; prepare?: typeof prepareModel }

export function openEngine(settings: EngineSettings, options: SupervisorOptions = {}): Engine {
  return new Supervisor(settings, options)
}

class Supervisor implements Engine {
  readonly capacity: number
  readonly #settings: EngineSettings
  readonly #options: SupervisorOptions
  readonly #prepare: typeof prepareModel
  readonly #status = new EngineStatus()
  readonly #retries: Retries
  readonly #pool: WorkerPool

  constructor(settings: EngineSettings, options: SupervisorOptions) {
    this.#settings = settings
    this.#options = options
    this.#prepare = options.prepare ?? prepareModel
    this.#retries = new Retries({
      pauseMs: options.retryMs ?? limits.engineRetryMs,
      pauseMsMax: limits.engineRetryMsMax,
    })
    this.#pool = new WorkerPool(settings, options, { status: this.#status, retries: this.#retries })
    this.capacity = this.#pool.capacity
    this.#start().catch(error => log.error('engine not started', errorFields(error)))
  }

  state(): EngineState {
    return this.#status.state
  }

  languages(): readonly string[] {
    return this.#pool.languages
  }

  translates(): boolean | null {
    return this.#pool.translates
  }

  onReady(listener: () => void): void {
    this.#status.onReady(listener)
  }

  async transcribe(input: TranscribeInput, options: TranscribeOptions): Promise<Transcript> {
    for (let tries = 1; ; tries++) {
      const worker = await this.#pool.take(options.signal)
      try {
        return await worker.run(input, options)
      } catch (error) {
        if (!(error instanceof WorkerExited)) throw error
        this.#options.onCrash?.()
        log.error('engine worker exited during a job', { tries, pid: worker.pid, ...errorFields(error) })
        if (tries === limits.engineTriesMax) throw new JobFailure('PROCESSING_ERROR')
      } finally {
        this.#pool.giveBack(worker)
      }
    }
  }

  async close(): Promise<void> {
    this.#retries.close()
    await this.#pool.close()
  }

  async #start(): Promise<void> {
    await this.#retries.run(() => this.#chooseModel())
    const notice = this.#pool.model?.notice
    if (notice) log.warn('built-in model in use', { reason: notice })
    const workers = this.#pool.addWorkers()
    await Promise.all(notice ? [...workers, this.#retryWantedModel()] : workers)
  }

  async #chooseModel(): Promise<boolean> {
    try {
      this.#pool.model = await this.#prepare(this.#settings, message => this.#status.change({ message }))
      return true
    } catch (error) {
      this.#status.logFault('no model', reasonOf(error))
      this.#status.hasNoModel()
      return false
    }
  }

  /** Waits until the default model is installed, and then replaces the built-in model by the default model. */
  async #retryWantedModel(): Promise<void> {
    while (!this.#retries.closed) {
      await this.#retries.sleep(this.#options.retryMs ?? limits.engineRetryMsMax)
      const model = this.#retries.closed
        ? null
        : await this.#prepare(this.#settings, () => {}).catch(() => null)
      if (!model || model.notice) continue
      log.info('model replaced', { model: model.name })
      this.#pool.replaceModel(model)
      return
    }
  }
}
