// One engine child process, which may do several jobs at the same time. The process gets orders, for example to load a
// model. The process is killed if its pending orders time out.

import { readFileSync } from 'node:fs'
import type { Subprocess } from 'bun'
import { errorFields, log } from '../base/log.ts'
import { spawnChild } from '../base/spawn-child.ts'
import { environment, writeToLog } from './ask.ts'
import type { Order, Report } from './protocol.ts'

/** The error of a request whose engine process (a child process) exits, for any reason. */
export class WorkerExited extends Error {}

type Listener = { onReport(report: Report): void; onExit(error: Error): void }

export class EngineProcess {
  readonly #child: Subprocess<'ignore', 'ignore', 'inherit'>
  readonly #lookMs: number
  #exited: WorkerExited | null = null
  /** The listeners of the pending requests. */
  readonly #listeners = new Set<Listener>()
  #timer: Timer | undefined

  /**
   * Starts the child process. During a request, checks every `lookMs` milliseconds whether a signal such as SIGSTOP has
   * paused the process, and kills a paused process. `gpu` is the only NVIDIA GPU for the process, or null if it may use
   * all.
   */
  constructor(
    command: string[],
    { lookMs, gpu, onExit }: { lookMs: number; gpu: string | null; onExit: () => void },
  ) {
    this.#lookMs = lookMs
    this.#child = spawnChild(command, {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'inherit',
      env: { ...environment(), ...(gpu === null ? {} : { CUDA_VISIBLE_DEVICES: gpu }) },
      ipc: report => this.#receive(report),
      onExit: (_, code, signal) => {
        this.#exited = new WorkerExited(`the engine process ended (${signal ?? code})`)
        for (const listener of this.#listeners) listener.onExit(this.#exited)
        onExit()
      },
    })
  }

  get pid(): number {
    return this.#child.pid
  }

  get alive(): boolean {
    return this.#exited === null && !this.#child.killed
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#child.exited
  }

  /**
   * Sends an order to the child process. The promise is settled when `onReport` calls `resolve` or `reject`, or when
   * the process exits.
   */
  request<Answer>(
    order: Order,
    timeoutMs: number,
    onReport: (report: Report, resolve: (answer: Answer) => void, reject: (error: Error) => void) => void,
  ): Promise<Answer> {
    if (this.#exited) return Promise.reject(this.#exited)
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const listener: Listener = { onReport: report => onReport(report, resolve, reject), onExit: reject }
    this.#listeners.add(listener)
    this.restartTimer(timeoutMs)
    const look = setInterval(() => this.#killIfStopped(), this.#lookMs)
    try {
      this.#child.send(order)
    } catch {
      // The child process has closed its channel, but Bun has not called `onExit` yet. SIGKILL makes sure that the
      // process exits. `promise` is not rejected here, but by `onExit`: until `onExit` is called, the process still
      // counts as alive, so a retry of the job would go to the same process.
      this.#child.kill('SIGKILL')
    }
    return promise.finally(() => {
      clearInterval(look)
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) clearTimeout(this.#timer)
    })
  }

  /**
   * Starts the timeout of the engine process again. All pending requests share this timeout. While the process reads
   * the file of one job, its other jobs make no progress. With a timeout for each request, such a waiting job could
   * time out although the process works.
   */
  restartTimer(timeoutMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      log.error('engine worker timed out', { pid: this.pid, timeout_ms: timeoutMs })
      this.#child.kill('SIGKILL')
    }, timeoutMs)
  }

  /**
   * Kills the child process if a signal such as SIGSTOP has stopped it. Without this check, only the timeout would kill
   * it, after minutes.
   */
  #killIfStopped(): void {
    if (!isStopped(this.pid)) return
    log.error('engine worker is stopped', { pid: this.pid })
    this.#child.kill('SIGKILL')
  }

  /**
   * Passes a report from the engine process to all pending requests. Ignores a message that is not a report. Kills the
   * process if a report cannot be read.
   */
  #receive(report: Report): void {
    if (report === null || typeof report !== 'object' || !('kind' in report)) return
    try {
      if (report.kind === 'log') writeToLog(report, this.pid)
      for (const listener of this.#listeners) listener.onReport(report)
    } catch (error) {
      log.error('engine report not read', { pid: this.pid, ...errorFields(error) })
      this.#child.kill('SIGKILL')
    }
  }
}

/**
 * Returns true if a signal stopped the process. In the file /proc/PID/stat, the state follows the name of the process,
 * which is in parentheses. `T` means stopped. Returns false if this file cannot be read.
 */
function isStopped(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.startsWith('T') === true
  } catch {
    return false
  }
}
