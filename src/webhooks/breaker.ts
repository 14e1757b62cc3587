// Circuit breakers for the receivers of webhooks. A receiver is one host to which the webhooks of one account are sent.
// After `webhookTimeoutsMax` timeouts in a row, no deliveries are sent to this receiver for `webhookSkippedMs`.

import { limits } from '../limits.ts'
import type { Outcome } from './deliver.ts'

export type Breaker = {
  /**
   * Calls `deliver` and returns its outcome. While the circuit breaker of this receiver is open, does not call
   * `deliver`, and returns the outcome `skipped`.
   */
  run(receiver: string, deliver: () => Promise<Outcome>): Promise<Outcome>
}

/**
 * The number of timeouts in a row of one receiver, and the time of the last timeout. `isProbed` is true while an open
 * circuit breaker lets one delivery test the receiver.
 */
type Timeouts = { inRow: number; lastAt: number; isProbed: boolean }

/** Creates the circuit breakers for all receivers. `monotonic` is a monotonic clock in milliseconds. */
export function openBreaker(monotonic: () => number): Breaker {
  /** The receivers whose last delivery timed out. The entries are in the order of the last timeout, oldest first. */
  const dead = new Map<string, Timeouts>()

  /**
   * Returns true if a delivery to the receiver may be sent. If the circuit breaker is open, one delivery is allowed
   * when the last timeout is at least `webhookSkippedMs` ago.
   */
  function admits(receiver: string): boolean {
    const timeouts = dead.get(receiver)
    if (!timeouts || timeouts.inRow < limits.webhookTimeoutsMax) return true
    if (timeouts.isProbed || monotonic() - timeouts.lastAt < limits.webhookSkippedMs) return false
    timeouts.isProbed = true
    return true
  }

  function record(receiver: string, outcome: Outcome): void {
    forgetOld()
    const timeouts = dead.get(receiver)
    if (outcome.kind === 'stopped') {
      if (timeouts) timeouts.isProbed = false
      return
    }
    dead.delete(receiver)
    if (outcome.kind !== 'timeout') return
    dead.set(receiver, { inRow: (timeouts?.inRow ?? 0) + 1, lastAt: monotonic(), isProbed: false })
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
      try {
        const outcome = await deliver()
        record(receiver, outcome)
        return outcome
      } catch (error) {
        // An error of this program says nothing about the receiver.
        record(receiver, { kind: 'stopped' })
        throw error
      }
    },
  }
}
