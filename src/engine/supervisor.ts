// Owns the engine's children: starts them, gives each one job at a time, ends those that stall or are no longer
// wanted, replaces those that die, and tries a job that died with its child once more.

import { setTimeout } from 'node:timers/promises'
import { errorFields, log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import { selfCommand } from '../base/self.ts'
import type { Config } from '../config.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import { type Choice, prepareModel } from './models/store.ts'
import { allowedCores } from './onnx/cores.ts'
import type { Engine, EngineState, TranscribeInput, TranscribeOptions } from './protocol.ts'
import { Unfit, Worker, WorkerLost } from './worker.ts'

export type EngineSettings = Pick<
  Config,
  'model' | 'modelsDir' | 'dataDir' | 'device' | 'workers' | 'threads' | 'durationMsMax'
>

export type SupervisorOptions = {
  /** What is started as a child; tests put one of their own in its place. */
  command?: string[]
  loadMs?: number
  stallMs?: number
  jobsMax?: number
  retryMs?: number
  prepare?: (settings: EngineSettings, onProgress: (message: string) => void) => Promise<Choice>
}

export function openEngine(settings: EngineSettings, options: SupervisorOptions = {}): Engine {
  return new Supervisor(settings, options)
}

class Supervisor implements Engine {
  readonly capacity: number
  private choice: Choice | null = null
  private current: EngineState = {
    ready: false,
    message: 'The engine is starting.',
    model: null,
    device: null,
    diarization: 'The engine is starting.',
  }
  private closed = false
  private readonly free: Worker[] = []
  private readonly workers = new Set<Worker>()
  private readonly waiting: ((worker: Worker) => void)[] = []
  private readonly listeners: (() => void)[] = []
  private readonly pause = new AbortController()

  constructor(
    private readonly settings: EngineSettings,
    private readonly options: SupervisorOptions,
  ) {
    this.capacity = settings.workers ?? 1
    this.start().catch(error => log.error('engine not started', errorFields(error)))
  }

  state(): EngineState {
    return this.current
  }

  onReady(listener: () => void): void {
    this.listeners.push(listener)
  }

  async transcribe(input: TranscribeInput, { signal, onProgress }: TranscribeOptions): Promise<Transcript> {
    for (let tries = 1; ; tries++) {
      const worker = await this.take(signal)
      const notice = this.choice?.notice
      const tell = (seconds: number) => onProgress(progressOf(seconds, input.durationMs / 1000, notice))
      const kill = () => void worker.kill()
      signal.addEventListener('abort', kill)
      try {
        tell(0)
        return await worker.run(input, tell)
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof WorkerLost)) throw error
        log.error('engine lost at work', { tries, pid: worker.pid, ...errorFields(error) })
        if (tries === limits.engineTriesMax) throw new JobFailure('PROCESSING_ERROR')
      } finally {
        signal.removeEventListener('abort', kill)
        this.giveBack(worker)
      }
    }
  }

  async close(): Promise<void> {
    this.closed = true
    this.pause.abort()
    await Promise.all([...this.workers].map(each => each.kill()))
  }

  private async start(): Promise<void> {
    await this.choose()
    if (!this.choice) return
    if (this.choice.notice) log.warn('built-in model serves', { reason: this.choice.notice })
    await Promise.all(Array.from({ length: this.capacity }, () => this.hire()))
    if (this.choice.notice) await this.seekBetter()
  }

  /** The built-in model only steps in: the one that should serve takes over, between jobs, once it can be had. */
  private async seekBetter(): Promise<void> {
    const prepare = this.options.prepare ?? prepareModel
    while (!this.closed) {
      await this.sleep(this.options.retryMs ?? limits.engineRetryMsMax)
      const better = this.closed ? null : await prepare(this.settings, () => {}).catch(() => null)
      if (!better || better.notice) continue
      log.info('model takes over', { model: better.name })
      this.choice = better
      for (const worker of this.free.splice(0)) this.replace(worker)
      return
    }
  }

  /** Finds the model, or says why not and tries again; jobs wait in the meantime. */
  private async choose(): Promise<void> {
    const prepare = this.options.prepare ?? prepareModel
    for (let pauseMs = this.options.retryMs ?? limits.engineRetryMs; !this.closed; pauseMs *= 2) {
      try {
        this.choice = await prepare(this.settings, message => this.say({ message }))
        return
      } catch (error) {
        const message = reasonOf(error)
        log.error('no model', { error: message })
        this.say({ message })
        await this.sleep(Math.min(pauseMs, limits.engineRetryMsMax))
      }
    }
  }

  /** Starts a child and tries again, ever more slowly, until one has loaded. */
  private async hire(): Promise<void> {
    const { folder, voices, name, notice } = this.choice!
    const { device, durationMsMax } = this.settings
    const threads = this.settings.threads ?? Math.max(1, Math.floor(allowedCores() / this.capacity))
    for (let pauseMs = this.options.retryMs ?? limits.engineRetryMs; !this.closed; pauseMs *= 2) {
      const worker = new Worker({
        command: this.options.command ?? selfCommand('engine'),
        order: { kind: 'load', parent: process.pid, folder, voices, device, threads, durationMsMax },
        loadMs: this.options.loadMs ?? limits.engineLoadMs,
        stallMs: this.options.stallMs ?? limits.engineStallMs,
        onExit: gone => this.lost(gone),
      })
      this.workers.add(worker)
      try {
        const loaded = await worker.load()
        for (const note of loaded.notes) log.warn('device not used', { reason: note })
        if (!this.current.ready) {
          log.info('engine ready', { model: name, device: loaded.device, variant: loaded.variant, threads })
          if (loaded.diarization !== 'ready') log.warn('no diarization', { reason: loaded.diarization })
        }
        if (folder !== this.choice!.folder) return this.replace(worker)
        const { device, diarization } = loaded
        this.say({ ready: true, message: notice ?? 'ready', model: name, device, diarization })
        this.offer(worker)
        return
      } catch (error) {
        this.workers.delete(worker)
        await worker.kill()
        if (this.closed) return
        const message = reasonOf(error)
        const told = error instanceof Unfit ? `The model ${name} cannot be loaded: ${message}` : message
        log.error('engine not loaded', { model: name, error: message })
        if (this.workers.size === 0) this.say({ ready: false, message: told, model: name, device: null })
        await this.sleep(Math.min(pauseMs, limits.engineRetryMsMax))
      }
    }
  }

  private say(change: Partial<EngineState>): void {
    const becameReady = change.ready === true && !this.current.ready
    this.current = { ...this.current, ...change }
    if (becameReady) for (const listener of this.listeners) listener()
  }

  private take(signal: AbortSignal): Promise<Worker> {
    signal.throwIfAborted()
    const worker = this.free.shift()
    if (worker) return Promise.resolve(worker)
    return new Promise((resolve, reject) => {
      const give = (worker: Worker) => {
        signal.removeEventListener('abort', leave)
        resolve(worker)
      }
      const leave = () => {
        this.waiting.splice(this.waiting.indexOf(give), 1)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.waiting.push(give)
    })
  }

  /** To the one who waits longest, or to the bench. */
  private offer(worker: Worker): void {
    const next = this.waiting.shift()
    if (next) next(worker)
    else this.free.push(worker)
  }

  /** After a job: a child that lives goes on, unless it has done its share or another model serves now. */
  private giveBack(worker: Worker): void {
    if (this.closed) return
    const serves = worker.alive && worker.folder === this.choice?.folder
    if (serves && worker.jobs < (this.options.jobsMax ?? limits.engineJobsMax)) this.offer(worker)
    else this.replace(worker)
  }

  /** A child that dies at rest is missed at once; one at work is missed by its job. */
  private lost(worker: Worker): void {
    const at = this.free.indexOf(worker)
    if (at < 0 || this.closed) return
    this.free.splice(at, 1)
    log.error('engine lost at rest', { pid: worker.pid })
    this.replace(worker)
  }

  private replace(worker: Worker): void {
    this.workers.delete(worker)
    worker.kill()
    this.hire().catch(error => log.error('engine not replaced', errorFields(error)))
  }

  private async sleep(ms: number): Promise<void> {
    // Rejects when the engine is closed, and then there is nothing left to wait for.
    await setTimeout(ms, undefined, { signal: this.pause.signal }).catch(() => {})
  }
}

export type OneEngine = {
  name: string
  device: string
  variant: string
  runtime: string
  diarization: string
  /** What should be known of model and device, one line each. */
  notes: string[]
  transcribe(input: TranscribeInput, onSeconds: (seconds: number) => void): Promise<Transcript>
  close(): Promise<void>
}

/** An engine without a service around it: one child, no second try, errors at once. */
export async function openOnce(
  settings: EngineSettings,
  onMessage: (message: string) => void,
): Promise<OneEngine> {
  const { folder, voices, name, notice } = await prepareModel(settings, onMessage)
  const { device, durationMsMax } = settings
  const worker = new Worker({
    command: selfCommand('engine'),
    order: {
      kind: 'load',
      parent: process.pid,
      folder,
      voices,
      device,
      threads: settings.threads ?? allowedCores(),
      durationMsMax,
    },
    loadMs: limits.engineLoadMs,
    stallMs: limits.engineStallMs,
    onExit: () => {},
  })
  try {
    const { notes, ...loaded } = await worker.load()
    return {
      ...loaded,
      name,
      notes: [...notes, ...(notice ? [notice] : [])],
      transcribe: (input, onSeconds) => worker.run(input, onSeconds),
      close: () => worker.kill(),
    }
  } catch (error) {
    await worker.kill()
    throw error instanceof Unfit ? new Error(`the model ${name} cannot be loaded: ${error.message}`) : error
  }
}

/** `Transcribing 42 % (12:30 of 29:48)`, and what must be known of the model that does it. */
export function progressOf(seconds: number, total: number, notice?: string | null): string {
  const done = Math.min(seconds, total)
  const share = total > 0 ? Math.floor((100 * done) / total) : 0
  const long = total >= 3600
  const line = `Transcribing ${share} % (${clock(done, long)} of ${clock(total, long)})`
  return notice ? `${line}. ${notice}` : line
}

function clock(seconds: number, long: boolean): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const minutes = Math.floor(seconds / 60)
  const shown = `${two(long ? minutes % 60 : minutes)}:${two(seconds % 60)}`
  return long ? `${Math.floor(minutes / 60)}:${shown}` : shown
}
