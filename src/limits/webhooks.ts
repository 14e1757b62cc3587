// The limits of webhooks.

import { hour, minute } from './units.ts'

export const webhookLimits = {
  webhookRedirectsMax: 1,
  /** Maximum number of concurrent deliveries of webhooks, over all jobs. */
  webhooksInFlightMax: 256,
  /**
   * Maximum number of concurrent deliveries to receivers that have not answered lately, over all jobs. The remaining
   * slots of `webhooksInFlightMax` are for receivers that answer.
   */
  webhooksUnansweredMax: 240,
  /**
   * Maximum number of concurrent deliveries to receivers whose last delivery timed out, over all jobs. Such a delivery
   * also counts towards `webhooksUnansweredMax`, which is larger. The remaining slots of that limit are for other
   * receivers that have not answered lately, such as new ones.
   */
  webhooksSilentMax: 160,
  /**
   * Number of timeouts in a row after which a circuit breaker opens. Each account has its own circuit breaker for each
   * host.
   */
  webhookTimeoutsMax: 10,
  /** Time for which an open circuit breaker skips deliveries. After this time, it allows one delivery as a test. */
  webhookSkippedMs: 1 * minute,
  /** Time since the last delivery to a receiver after which the server forgets whether this receiver answers. */
  webhookReceiversKeptMs: 1 * hour,
  /** Maximum number of webhook events that a new process reads to find the receivers that answered lately. */
  webhookEventsReadMax: 10_000,
  /**
   * Pause after the first failed attempt of a delivery. Each further pause is `webhookRetryFactor` times as long. The
   * last of five retries is sent about 23 hours after the first attempt.
   */
  webhookRetryMs: 4 * minute,
  webhookRetryFactor: 4,
  webhookRetryMsMax: 24 * hour,
  /**
   * Maximum number of jobs with due webhook events that the server reads and queues in one turn of the event loop.
   * Reading and queueing 60,000 jobs in one turn would block the server for about half a second.
   */
  webhookJobsReadMax: 200,
  deliveriesShownMax: 100,
} as const
