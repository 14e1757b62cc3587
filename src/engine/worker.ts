// An engine child process, as the server sees it. A worker starts the child process, sends it one job at a time, and
// kills it after a timeout or an abort.

import { readFileSync } from 'node:fs'
import type { Subprocess } from 'bun'
import { log } from '../base/log.ts'
import { selfCommand } from '../base/self.ts'
import type { Config } from '../config.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Transcript, Utterance } from '../transcripts/transcript.ts'
import { environment } from './ask.ts'
import { warningsOf } from './models/catalogue.ts'
import type { ChosenModel, ModelSettings } from './models/choose.ts'
import { allowedCores } from './onnx/cores.ts'
import type { LoadedFacts, Order, Report } from './protocol.ts'
import type { TranscribeInput, TranscribeOptions } from './request.ts'

export type EngineSettings = ModelSettings &
  Pick<Config, 'workers' | 'threads' | 'durationMsMax' | 'mediaProgram' | 'idleUnloadMs'>

/** The error of a request whose child process exited, for any reason. */
export class WorkerExited extends Error {}

/** The error of a request to load a model that cannot be loaded on the device. */
export class CannotLoad extends Error {}

export type WorkerOptions = {
  /** The command that starts the child process. Only tests set it. */
  command?: string[]
  /**
   * The data folder of the server. The child process is not allowed to read the secrets in it. Undefined for a command
   * such as `steno transcribe`, which has no server.
   */
  dataDir?: string
  /** The maximum time in which the child process must load the model, in milliseconds. */
  loadMs?: number
  /**
   * The maximum time between two progress reports of a job, in milliseconds. After this time, the child process is
   * killed.
   */
  stallMs?: number
  /** The interval, in milliseconds, at which a worker checks whether a signal stopped its busy child process. */
  lookMs?: number
  onExit?: (worker: Worker) => void
}

type Listener = { onReport(report: Report): void; onExit(error: Error): void }

export class Worker {
  readonly model: ChosenModel
  readonly threads: number
  /** The number of jobs that were sent to this worker since its start. */
  jobs = 0
  readonly #settings: EngineSettings
  readonly #dataDir: string | null
  readonly #loadMs: number
  readonly #stallMs: number
  readonly #lookMs: number
  readonly #child: Subprocess<'ignore', 'ignore', 'inherit'>
  #exited: WorkerExited | null = null
  #listener: Listener | null = null
  #timer: Timer | undefined

  constructor(model: ChosenModel, settings: EngineSettings, options: WorkerOptions = {}) {
    this.model = model
    this.threads = settings.threads ?? Math.max(1, Math.floor(allowedCores() / (settings.workers ?? 1)))
    this.#settings = settings
    this.#dataDir = options.dataDir ?? null
    this.#loadMs = options.loadMs ?? limits.engineLoadMs
    this.#stallMs = options.stallMs ?? limits.engineStallMs
    this.#lookMs = options.lookMs ?? limits.engineLookMs
    this.#child = Bun.spawn(options.command ?? selfCommand('engine'), {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'inherit',
      env: environment(),
      ipc: report => this.#receive(report),
      onExit: (_, code, signal) => {
        this.#exited = new WorkerExited(`the engine process ended (${signal ?? code})`)
        this.#listener?.onExit(this.#exited)
        options.onExit?.(this)
      },
    })
  }

  get pid(): number {
    return this.#child.pid
  }

  get alive(): boolean {
    return this.#exited === null && !this.#child.killed
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
    return this.#request(order, this.#loadMs, (report, resolve, reject) => {
      if (report.kind === 'loaded') resolve(report.facts)
      if (report.kind === 'cannotLoad')
        reject(new CannotLoad(`The model ${name} cannot be loaded: ${report.message}`))
    })
  }

  /**
   * Runs one job, and returns its transcript. Rejects with a JobFailure if the job cannot be done, and with
   * WorkerExited if the child process exits. An abort of the signal kills the child process and rejects with the reason
   * of the signal.
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

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#child.exited
  }

  #transcribe(
    input: TranscribeInput,
    { onSeconds, onUtterances, onPeaks }: TranscribeOptions,
  ): Promise<Transcript> {
    const id = ++this.jobs
    let reached = 0
    const utterances: Utterance[] = []
    onSeconds(0)
    return this.#request({ kind: 'job', id, input }, this.#stallMs, (report, resolve, reject) => {
      if (!('id' in report) || report.id !== id) return
      if (report.kind === 'progress') {
        this.#restartTimer(this.#stallMs)
        if (report.seconds > reached) {
          reached = report.seconds
          onSeconds(reached)
        }
      }
      if (report.kind === 'utterances') onUtterances?.(report.utterances, report.first)
      if (report.kind === 'peaks') onPeaks?.(report.peaks)
      if (report.kind === 'warning') log.warn(`engine ${report.event}`, report.fields)
      if (report.kind === 'part') utterances.push(...report.utterances)
      if (report.kind === 'done') resolve(this.#signed({ ...report.transcript, utterances }))
      if (report.kind === 'failed') reject(new JobFailure(report.code, report.message))
    })
  }

  /** Returns the transcript with the name of its model and with the warnings about this model. */
  #signed(transcript: Transcript): Transcript {
    const { model = this.model.name } = transcript
    return { ...transcript, model, warnings: [...warningsOf(model), ...(transcript.warnings ?? [])] }
  }

  /**
   * Sends an order to the child process, and passes each report to `onReport`. The promise is settled when `onReport`
   * calls `resolve` or `reject`, or when the process exits.
   */
  #request<Answer>(
    order: Order,
    timeoutMs: number,
    onReport: (report: Report, resolve: (answer: Answer) => void, reject: (error: Error) => void) => void,
  ): Promise<Answer> {
    if (this.#exited) return Promise.reject(this.#exited)
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    this.#listener = { onReport: report => onReport(report, resolve, reject), onExit: reject }
    this.#restartTimer(timeoutMs)
    const look = setInterval(() => this.#killIfStopped(), this.#lookMs)
    try {
      this.#child.send(order)
    } catch {
      // The process has exited, but Bun has not called `onExit` yet. The call of `onExit` rejects the promise. Until then,
      // the worker counts as alive, and a retry of the job would get it again.
      this.#child.kill('SIGKILL')
    }
    return promise.finally(() => {
      clearTimeout(this.#timer)
      clearInterval(look)
      this.#listener = null
    })
  }

  #restartTimer(timeoutMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      log.error('engine worker timed out', { pid: this.pid, timeout_ms: timeoutMs })
      this.#child.kill('SIGKILL')
    }, timeoutMs)
  }

  /**
   * Kills the child process if the signal SIGSTOP or SIGTSTOP stopped it. The timeout `stallMs` would also kill it, but
   * only after minutes.
   */
  #killIfStopped(): void {
    if (!isStopped(this.pid)) return
    log.error('engine worker is stopped', { pid: this.pid })
    this.#child.kill('SIGKILL')
  }

  /**
   * Passes a report of the child process to the pending request. Ignores a message that is not a report, because a
   * faulty child process may send any message.
   */
  #receive(report: Report): void {
    if (report !== null && typeof report === 'object' && 'kind' in report) this.#listener?.onReport(report)
  }
}

/**
 * Returns true if a signal stopped the process. In the file /proc/PID/stat, the state of a process follows its name,
 * which is in parentheses. `T` means stopped.
 */
function isStopped(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.startsWith('T') === true
  } catch {
    return false
  }
}
