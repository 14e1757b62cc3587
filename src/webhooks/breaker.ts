// Circuit breakers for the receivers of webhooks. A receiver is one host to which the webhooks of one account are sent.
// After `webhookTimeoutsMax` timeouts in a row, deliveries to this receiver are skipped for `webhookSkippedMs`.

import { limits } from '../limits.ts'
import type { Outcome } from './deliver.ts'

export type Breaker = {
  /**
   * Calls `deliver` and returns its outcome. While the receiver's circuit breaker is open, returns the outcome
   * `skipped` without a call. But when `webhookSkippedMs` have passed since the last timeout, one delivery is sent, to
   * find out if the receiver answers again.
   */
  run(receiver: string, deliver: () => Promise<Outcome>): Promise<Outcome>
  /** Returns true if the receiver answered its last delivery, less than `webhookReceiversKeptMs` ago. */
  answers(receiver: string): boolean
  /** Returns true if the last delivery to the receiver timed out, less than `webhookReceiversKeptMs` ago. */
  isSilent(receiver: string): boolean
  /**
   * Records that the receiver answered its last delivery. Called at the start of the server for each receiver that
   * answered shortly before, because the breaker keeps its records only in memory. Without this record, `answers` would
   * return false.
   */
  answered(receiver: string): void
}

/**
 * The number of consecutive timeouts of one receiver, and the time of its last delivery. `isProbed` is true while an
 * open circuit breaker lets one delivery test the receiver.
 */
type Receiver = { timeouts: number; lastAt: number; isProbed: boolean }

/** Creates the circuit breakers for all receivers. `monotonic` is a clock in milliseconds. */
export function openBreaker(monotonic: () => number): Breaker {
  /**
   * The receivers whose last delivery got an answer or a timeout, oldest delivery first, so that `forgetOld` can remove
   * the oldest ones quickly. Another outcome, such as a failed connection, is no answer, and ends a series of timeouts.
   * Such an outcome therefore removes the receiver from this map.
   */
  const receivers = new Map<string, Receiver>()

  /**
   * Returns true if a delivery to the receiver may be sent. An open circuit breaker allows one delivery when the last
   * timeout is at least `webhookSkippedMs` ago.
   */
  function admits(name: string): boolean {
    const receiver = receivers.get(name)
    if (!receiver || receiver.timeouts < limits.webhookTimeoutsMax) return true
    if (receiver.isProbed || monotonic() - receiver.lastAt < limits.webhookSkippedMs) return false
    receiver.isProbed = true
    return true
  }

  function record(name: string, { kind }: Outcome): void {
    forgetOld()
    const receiver = receivers.get(name)
    if (kind === 'stopped') {
      if (receiver) receiver.isProbed = false
      return
    }
    receivers.delete(name)
    const timeouts = kind === 'timeout' ? (receiver?.timeouts ?? 0) + 1 : 0
    if (timeouts > 0 || kind === 'delivered' || kind === 'refused')
      receivers.set(name, { timeouts, lastAt: monotonic(), isProbed: false })
  }

  function forgetOld(): void {
    for (const [name, { lastAt }] of receivers) {
      if (monotonic() - lastAt < limits.webhookReceiversKeptMs) return
      receivers.delete(name)
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
        // An error of this program does not count as an answer or a timeout of the receiver.
        record(receiver, { kind: 'stopped' })
        throw error
      }
    },
    answers(receiver) {
      forgetOld()
      return receivers.get(receiver)?.timeouts === 0
    },
    isSilent(receiver) {
      forgetOld()
      return (receivers.get(receiver)?.timeouts ?? 0) > 0
    },
    answered(receiver) {
      receivers.set(receiver, { timeouts: 0, lastAt: monotonic(), isProbed: false })
    },
  }
}
