// Circuit breakers for the receivers of webhooks. After `webhookTimeoutsMax` timeouts in a row, deliveries to the
// same receiver are skipped for `webhookSkippedMs`.

import { limits } from '../limits.ts'
import type { Outcome } from './deliver.ts'

export type Breaker = {
  /** Calls `deliver`, or returns the outcome `skipped` while the circuit breaker of this receiver is open. */
  run(receiver: string, deliver: () => Promise<Outcome>): Promise<Outcome>
}

/** The timeouts of one receiver in a row. `isProbed` is true while an open circuit breaker lets one delivery try. */
type Timeouts = { inRow: number; lastAt: number; isProbed: boolean }

/** Creates the circuit breakers. `monotonic` is a monotonic clock in milliseconds. */
export function openBreaker(monotonic: () => number): Breaker {
  /** The receivers whose last delivery timed out, in the order of that time. */
  const dead = new Map<string, Timeouts>()

  /**
   * Returns true if a delivery to the receiver may be tried. An open circuit breaker allows one delivery after
   * `webhookSkippedMs` without a timeout.
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
