// The state of the engine, the listeners that wait for its readiness, and the log of its faults.

import { log } from '../base/log.ts'
import type { EngineState } from './engine.ts'

export class EngineStatus {
  readonly #readyListeners: (() => void)[] = []
  #fault: string | null = null
  #state: EngineState = {
    ready: false,
    message: 'The engine is starting.',
    model: null,
    device: null,
    diarization: 'The engine is starting.',
  }

  get state(): EngineState {
    return this.#state
  }

  /** Registers a listener. It is called each time the engine becomes ready. */
  onReady(listener: () => void): void {
    this.#readyListeners.push(listener)
  }

  change(change: Partial<EngineState>): void {
    const becameReady = change.ready === true && !this.#state.ready
    this.#state = { ...this.#state, ...change }
    if (change.ready === true) this.#fault = null
    if (!becameReady) return
    for (const listener of this.#readyListeners) listener()
  }

  /** Reports that no model can be loaded. `change` contains the other fields of the state that change. */
  hasNoModel(change: Partial<EngineState> = {}): void {
    this.change({
      ...change,
      message: 'The engine has no model that it can load; the log and steno doctor say why.',
    })
  }

  /** Reports that no engine process runs, and that none can be started. */
  hasNoProcess(): void {
    this.change({
      ready: false,
      device: null,
      message: 'The engine process cannot be started; the log says why.',
    })
  }

  /**
   * Logs a fault. The reason of the last fault is not logged again until an engine process has loaded a model. The
   * engine's state does not contain the reason, because callers of the API can read the state, and a reason can contain
   * paths of this machine.
   */
  logFault(event: string, reason: string): void {
    if (reason !== this.#fault) log.error(event, { error: reason })
    this.#fault = reason
  }
}
