// A worker: the object that controls one engine child process. It starts the child process, sends it jobs, and kills it
// after a timeout or an abort.

import { log } from '../base/log.ts'
import { selfCommand } from '../base/self.ts'
import type { Config } from '../config.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Transcript, Utterance } from '../transcripts/transcript.ts'
import { warningsOf } from './models/catalogue.ts'
import type { ChosenModel, ModelSettings } from './models/serving.ts'
import { allowedCores } from './onnx/cores.ts'
import { EngineProcess } from './process.ts'
import type { LoadedFacts, Order } from './protocol.ts'
import type { TranscribeInput, TranscribeOptions } from './request.ts'

export type EngineSettings = ModelSettings &
  Pick<Config, 'workers' | 'threads' | 'durationMsMax' | 'mediaProgram' | 'idleUnloadMs'>

/** The error of a request to load a model that the child process cannot load. */
class CannotLoad extends Error {}

export type WorkerOptions = {
  /** The command that starts the child process. Only tests set it. */
  command?: string[]
  /**
   * The data folder of the server, whose secrets the child process must not read. Undefined for a command without a
   * server.
   */
  dataDir?: string
  /** The maximum time in which the child process must load the model, in milliseconds. */
  loadMs?: number
  /**
   * The maximum time, in milliseconds, between two progress reports of a child process with jobs. After this time
   * without a report, the child process is killed.
   */
  stallMs?: number
  /**
   * The interval, in milliseconds, at which a worker checks the state of its child process during a job. If a signal such
   * as SIGSTOP has stopped the child process, the worker kills it.
   */
  lookMs?: number
  /** The only NVIDIA GPU that the child process may use, as a value of CUDA_VISIBLE_DEVICES. Null if it may use all. */
  gpu?: string | null
  onExit?: (worker: Worker) => void
}

export class Worker {
  readonly model: ChosenModel
  readonly threads: number
  readonly gpu: string | null
  /** The number of jobs that were sent to this worker since its start. */
  jobs = 0
  readonly #settings: EngineSettings
  readonly #dataDir: string | null
  readonly #loadMs: number
  readonly #stallMs: number
  readonly #process: EngineProcess

  constructor(model: ChosenModel, settings: EngineSettings, options: WorkerOptions = {}) {
    this.model = model
    this.threads = settings.threads ?? Math.max(1, Math.floor(allowedCores() / (settings.workers ?? 1)))
    this.gpu = options.gpu ?? null
    this.#settings = settings
    this.#dataDir = options.dataDir ?? null
    this.#loadMs = options.loadMs ?? limits.engineLoadMs
    this.#stallMs = options.stallMs ?? limits.engineStallMs
    this.#process = new EngineProcess(options.command ?? selfCommand('engine'), {
      lookMs: options.lookMs ?? limits.engineLookMs,
      gpu: this.gpu,
      onExit: () => options.onExit?.(this),
    })
  }

  get pid(): number {
    return this.#process.pid
  }

  get alive(): boolean {
    return this.#process.alive
  }

  load(): Promise<LoadedFacts> {
    const { folder, others, detector, voices, name } = this.model
    const { device, durationMsMax, mediaProgram } = this.#settings
    const { threads } = this
    const order: Order = {
      kind: 'load',
      parent: process.pid,
      dataDir: this.#dataDir,
      name,
      folder,
      others,
      detector,
      voices,
      device,
      threads,
      durationMsMax,
      mediaProgram,
    }
    return this.#process.request(order, this.#loadMs, (report, resolve, reject) => {
      if (report.kind === 'loaded') resolve(report.facts)
      if (report.kind === 'cannotLoad')
        reject(new CannotLoad(`The model ${name} cannot be loaded: ${report.message}`))
    })
  }

  /**
   * Runs one job, and returns its transcript. Rejects with a JobFailure if the job cannot be done, and with
   * WorkerExited if the child process exits. An abort kills the child process, and `run` rejects with the reason of the
   * signal. All jobs that run at the same time must have the same signal, because an abort ends them all.
   */
  async run(input: TranscribeInput, options: TranscribeOptions): Promise<Transcript> {
    const { signal } = options
    signal.throwIfAborted()
    const kill = () => void this.kill()
    signal.addEventListener('abort', kill)
    try {
      return await this.#transcribe(input, options)
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', kill)
    }
  }

  kill(): Promise<void> {
    return this.#process.kill()
  }

  #transcribe(
    input: TranscribeInput,
    { onSeconds, onUtterances, onPeaks, onTurns }: TranscribeOptions,
  ): Promise<Transcript> {
    const id = ++this.jobs
    let reached = 0
    const utterances: Utterance[] = []
    onSeconds(0)
    const order: Order = { kind: 'job', id, input, wantsTurns: onTurns !== undefined }
    return this.#process.request(order, this.#stallMs, (report, resolve, reject) => {
      if (!('id' in report) || report.id !== id) return
      if (report.kind === 'progress') {
        this.#process.restartTimer(this.#stallMs)
        if (report.seconds > reached) {
          reached = report.seconds
          onSeconds(reached)
        }
      }
      if (report.kind === 'utterances') onUtterances?.(report.utterances, report.first, report.language)
      if (report.kind === 'peaks') onPeaks?.(report.peaks)
      if (report.kind === 'turns') onTurns?.(report.turns)
      if (report.kind === 'warning') log.warn(`engine ${report.event}`, report.fields)
      if (report.kind === 'part') utterances.push(...report.utterances)
      if (report.kind === 'done') resolve(this.#signed({ ...report.transcript, utterances }))
      if (report.kind === 'failed') reject(new JobFailure(report.code, report.message))
    })
  }

  /** Returns the transcript with the name of its model, and with the warnings about this model. */
  #signed(transcript: Transcript): Transcript {
    const { model = this.model.name } = transcript
    return { ...transcript, model, warnings: [...warningsOf(model), ...(transcript.warnings ?? [])] }
  }
}
