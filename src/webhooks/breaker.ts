// A circuit breaker per receiver: after several timeouts in a row, deliveries to it are skipped for a while.

import { limits } from '../limits.ts'
import type { Outcome } from './deliver.ts'

export type Breaker = {
  /** Delivers, or skips the delivery while the circuit breaker of this receiver is open. */
  run(receiver: string, deliver: () => Promise<Outcome>): Promise<Outcome>
}

type Timeouts = { inRow: number; lastAt: number; isProbed: boolean }

/** Expects a monotonic clock. */
export function openBreaker(monotonic: () => number): Breaker {
  /** Receivers whose last delivery timed out, in order of that timeout. */
  const dead = new Map<string, Timeouts>()

  /**
   * Returns true if a delivery may be tried. After `webhookSkippedMs` an open breaker admits one delivery as a probe.
   */
  function admits(receiver: string): boolean {
    const timeouts = dead.get(receiver)
    if (!timeouts || timeouts.inRow < limits.webhookTimeoutsMax) return true
    if (timeouts.isProbed || monotonic() - timeouts.lastAt < limits.webhookSkippedMs) return false
    timeouts.isProbed = true
    return true
  }

  function record(receiver: string, outcome: Outcome): void {
    const timeouts = dead.get(receiver)
    if (outcome.kind === 'stopped') {
      if (timeouts) timeouts.isProbed = false
      return
    }
    dead.delete(receiver)
    if (outcome.kind !== 'timeout') return
    dead.set(receiver, { inRow: (timeouts?.inRow ?? 0) + 1, lastAt: monotonic(), isProbed: false })
    forgetOld()
  }

  function forgetOld(): void {
    for (const [receiver, { lastAt }] of dead) {
      if (monotonic() - lastAt < limits.webhookTimeoutsKeptMs) return
      dead.delete(receiver)
    }
  }

  return {
    async run(receiver, deliver) {
      if (!admits(receiver)) return { kind: 'skipped' }
      const outcome = await deliver()
      record(receiver, outcome)
      return outcome
    },
  }
}
