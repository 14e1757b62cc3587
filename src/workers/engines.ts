// The engine of a server that has workers on other machines. Each job goes to these workers (the fleet) or to the
// server's own engine. The own engine has as many processes as STENO_WORKERS says. With STENO_WORKERS=0, the server has
// no own engine, and all jobs go to the fleet.

import type { Engine, EngineState } from '../engine/engine.ts'
import type { HandOver, Needs, TranscribeInput, TranscribeOptions } from '../engine/request.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { Fleet } from './fleet.ts'
import { TakenBack } from './hand-over.ts'
import { type Abilities, canDo } from './pools.ts'

export class Engines implements Engine {
  readonly #fleet: Fleet
  readonly #own: Engine | null
  /** The ids of the jobs of the server's own engine, in the order of their arrival. */
  readonly #ownJobs = new Set<string>()

  constructor(fleet: Fleet, own: Engine | null) {
    this.#fleet = fleet
    this.#own = own
    if (!own) return
    fleet.own = {
      canDo: input => this.#isOwnFit(input),
      hasRoom: () => this.#ownRoom() > 0,
      take: jobId => void this.#ownJobs.add(jobId),
    }
  }

  get capacity(): number {
    return this.#fleet.capacity + this.#ownJobs.size + this.#ownRoom()
  }

  /**
   * Returns true if the server's own engine or the fleet can do the job and has free capacity. Also returns true if
   * neither can ever do the job. Such a job fails when an engine gets it, and the error names what is missing.
   */
  hasRoomFor(needs: Needs): boolean {
    const [isFit, isServed] = [this.#isOwnFit(needs), this.#fleet.serves(needs)]
    if (!isFit && !isServed) return !this.#mayBeDoneLater(needs)
    return (isFit && this.#ownRoom() > 0) || this.#fleet.hasRoomFor(needs)
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
    const { handOver } = options
    const own = handOver ? this.#chooseOwn(input, handOver) : null
    if (own && handOver) return await this.#useOwn(own, handOver, input, options)
    try {
      return await this.#fleet.transcribe(input, options)
    } catch (error) {
      if (!(error instanceof TakenBack) || !this.#own || !handOver) throw error
      return await this.#useOwn(this.#own, handOver, input, options)
    }
  }

  async #useOwn(
    own: Engine,
    { jobId }: HandOver,
    input: TranscribeInput,
    options: TranscribeOptions,
  ): Promise<Transcript> {
    this.#ownJobs.add(jobId)
    try {
      return await own.transcribe(input, options)
    } finally {
      this.#ownJobs.delete(jobId)
      this.#fleet.rescue()
    }
  }

  mayBeHeld(handOver: HandOver): boolean {
    return this.#fleet.mayBeHeld(handOver)
  }

  waitingJobs(): string[] {
    // The server's own engine starts its jobs in the order of `#ownJobs`. The jobs after the first `capacity` jobs
    // wait.
    return [...this.#fleet.waitingJobs(), ...[...this.#ownJobs].slice(this.#own?.capacity)]
  }

  ended(jobId: string): void {
    this.#fleet.ended(jobId)
  }

  async close(): Promise<void> {
    await Promise.all([this.#own?.close(), this.#fleet.close()])
  }

  /**
   * Returns the server's own engine if it should do the job, or null if the job goes to the fleet (the workers).
   * - A job that a worker has claimed stays with the fleet.
   * - If only the own engine or only the fleet can do the job, the job goes there, even without free capacity.
   * - All other jobs go to the own engine while it has free capacity, and otherwise to the fleet.
   */
  #chooseOwn(input: TranscribeInput, { worker }: HandOver): Engine | null {
    const own = this.#own
    if (!own?.state().ready || worker !== null) return null
    const isFit = this.#isOwnFit(input)
    if (isFit !== this.#fleet.serves(input)) return isFit ? own : null
    return this.#ownRoom() > 0 ? own : null
  }

  /** Returns true if the server's own engine is not ready, or if a worker may do the job later. */
  #mayBeDoneLater(needs: Needs): boolean {
    return this.#own?.state().ready === false || this.#fleet.mayServeLater(needs)
  }

  #isOwnFit(needs: Needs): boolean {
    return this.#own?.state().ready === true && canDo(abilitiesOf(this.#own), needs)
  }

  #ownRoom(): number {
    return this.#own?.state().ready ? Math.max(0, this.#own.capacity - this.#ownJobs.size) : 0
  }
}

function abilitiesOf(engine: Engine): Abilities {
  return {
    languages: engine.languages(),
    translates: engine.translates() ?? false,
    diarization: engine.state().diarization,
  }
}
