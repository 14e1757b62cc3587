// One engine child as the supervisor sees it: started, loaded, given a job, and in the end killed.

import type { Subprocess } from 'bun'
import { nativeEnvironment } from '../base/carried.ts'
import { log } from '../base/log.ts'
import { JobFailure } from '../errors.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { Order, Report, TranscribeInput } from './protocol.ts'

export type Loaded = Extract<Report, { kind: 'loaded' }>

/** The child is gone or was given up: nobody's fault that a caller could put right. */
export class WorkerLost extends Error {}

/** The child says that this model and device cannot be: another try would say the same. */
export class Unfit extends Error {}

export type WorkerOptions = {
  command: string[]
  order: Extract<Order, { kind: 'load' }>
  loadMs: number
  /** The longest it may work without saying that it got on. */
  stallMs: number
  onExit: (worker: Worker) => void
}

type Listener = { hear(report: Report): void; lose(error: Error): void }

export class Worker {
  jobs = 0
  private listener: Listener | null = null
  private lost: Error | null = null
  private timer: Timer | undefined
  private readonly child: Subprocess<'ignore', 'ignore', 'inherit'>

  constructor(private readonly options: WorkerOptions) {
    this.child = Bun.spawn(options.command, {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'inherit',
      env: environment(),
      ipc: report => this.hear(report as Report),
      onExit: (_, code, signal) => {
        this.lose(new WorkerLost(`the engine ended (${signal ?? code})`))
        options.onExit(this)
      },
    })
  }

  get pid(): number {
    return this.child.pid
  }

  /** The folder of the model that it works with. */
  get folder(): string {
    return this.options.order.folder
  }

  get alive(): boolean {
    return this.lost === null && !this.child.killed
  }

  load(): Promise<Loaded> {
    const { order, loadMs } = this.options
    return this.ask(order, loadMs, (report, resolve, reject) => {
      if (report.kind === 'loaded') resolve(report)
      if (report.kind === 'unfit') reject(new Unfit(report.message))
    })
  }

  run(input: TranscribeInput, onSeconds: (seconds: number) => void): Promise<Transcript> {
    const id = ++this.jobs
    let reached = -1
    return this.ask({ kind: 'job', id, input }, this.options.stallMs, (report, resolve, reject) => {
      if (!('id' in report) || report.id !== id) return
      if (report.kind === 'progress') {
        this.watch(this.options.stallMs)
        if (report.seconds > reached) {
          reached = report.seconds
          onSeconds(reached)
        }
      }
      if (report.kind === 'warning') log.warn(`engine ${report.event}`, report.fields)
      if (report.kind === 'done') resolve(report.transcript)
      if (report.kind === 'failed') reject(new JobFailure(report.code, report.message))
    })
  }

  /** At once; whoever waits for it is told. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.child.exited
  }

  private ask<Answer>(
    order: Order,
    patienceMs: number,
    hear: (report: Report, resolve: (answer: Answer) => void, reject: (error: Error) => void) => void,
  ): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      if (this.lost) return reject(this.lost)
      const end = <Given>(settle: (given: Given) => void) => {
        return (given: Given) => {
          clearTimeout(this.timer)
          this.listener = null
          settle(given)
        }
      }
      const [answer, refuse] = [end(resolve), end(reject)]
      this.listener = { hear: report => hear(report, answer, refuse), lose: refuse }
      this.watch(patienceMs)
      try {
        this.child.send(order)
      } catch (error) {
        // Its end has not been noticed yet.
        refuse(new WorkerLost(String(error)))
      }
    })
  }

  private watch(patienceMs: number): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      log.error('engine stalled', { pid: this.pid, patience_ms: patienceMs })
      this.child.kill('SIGKILL')
    }, patienceMs)
  }

  private hear(report: Report): void {
    // A child gone wild may send anything; only what it was asked for is listened to.
    if (report !== null && typeof report === 'object' && 'kind' in report) this.listener?.hear(report)
  }

  private lose(error: Error): void {
    this.lost = error
    this.listener?.lose(error)
  }
}

/** Ours without our settings: they hold secrets, and the child is told all it needs. */
function environment(): Record<string, string | undefined> {
  const own = Object.entries(process.env).filter(([name]) => !/^(STENO_|HF_)/.test(name))
  // Bun's own report of a crash would call out and take its time.
  return { ...Object.fromEntries(own), ...nativeEnvironment(), BUN_ENABLE_CRASH_REPORTING: '0' }
}
