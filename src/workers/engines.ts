// The engine of a server with workers on other machines. It passes each job either to the fleet of these workers, or to
// the engine of the server itself, which is called the own engine. If STENO_WORKERS is 0, the server has no own engine.

import type { Engine, EngineState } from '../engine/engine.ts'
import type { HandOver, TranscribeInput, TranscribeOptions } from '../engine/request.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { Fleet } from './fleet.ts'

export class Engines implements Engine {
  readonly #fleet: Fleet
  readonly #own: Engine | null
  /** The number of jobs that the server's own engine is running at the moment. */
  #running = 0

  constructor(fleet: Fleet, own: Engine | null) {
    this.#fleet = fleet
    this.#own = own
  }

  get capacity(): number {
    return this.#fleet.capacity + this.#running + this.#ownRoom()
  }

  state(): EngineState {
    const own = this.#own?.state()
    const fleet = this.#fleet.state()
    return own && (own.ready || !fleet.ready) ? own : fleet
  }

  languages(): readonly string[] {
    return [...new Set([...(this.#own?.languages() ?? []), ...this.#fleet.languages()])]
  }

  translates(): boolean | null {
    const each = [this.#own?.translates() ?? null, this.#fleet.translates()]
    return each.includes(true) ? true : each.includes(false) ? false : null
  }

  onReady(listener: () => void): void {
    this.#own?.onReady(listener)
    this.#fleet.onReady(listener)
  }

  async transcribe(input: TranscribeInput, options: TranscribeOptions): Promise<Transcript> {
    const own = this.#chooseOwn(input, options)
    if (!own) return await this.#fleet.transcribe(input, options)
    this.#running += 1
    try {
      return await own.transcribe(input, options)
    } finally {
      this.#running -= 1
    }
  }

  mayBeHeld(handOver: HandOver): boolean {
    return this.#fleet.mayBeHeld(handOver)
  }

  waitingJobs(): string[] {
    return this.#fleet.waitingJobs()
  }

  ended(jobId: string): void {
    this.#fleet.ended(jobId)
  }

  async close(): Promise<void> {
    await Promise.all([this.#own?.close(), this.#fleet.close()])
  }

  /**
   * Returns the server's own engine if this engine should do the job. Returns null if the job goes to the fleet (the
   * workers on other machines). A job goes to the fleet in three cases: the server's own engine cannot start the job
   * now; a worker has already claimed the job earlier; or the server's own engine does not support the language of the
   * job, but the fleet can do the job and has free capacity.
   */
  #chooseOwn(input: TranscribeInput, { handOver }: TranscribeOptions): Engine | null {
    const own = this.#own
    if (!own || !handOver || handOver.worker !== null || this.#ownRoom() === 0) return null
    const isFit = input.language === null || own.languages().includes(input.language)
    return isFit || !(this.#fleet.hasRoom() && this.#fleet.serves(input)) ? own : null
  }

  #ownRoom(): number {
    return this.#own?.state().ready ? Math.max(0, this.#own.capacity - this.#running) : 0
  }
}
