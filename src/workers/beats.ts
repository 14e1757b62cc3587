// The reports of a worker during a job: when a report is sent, and how many utterances it has.

import { pause } from '../base/pause.ts'
import type { Utterance } from '../transcripts/transcript.ts'

/** Calls the function `beat` repeatedly, with a pause before each call, until `close` is called. */
export class Beats {
  readonly #stop = new AbortController()
  readonly #done: Promise<void>

  constructor(pauseMs: number, beat: () => Promise<void>) {
    this.#done = this.#run(pauseMs, beat)
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#done
  }

  async #run(pauseMs: number, beat: () => Promise<void>): Promise<void> {
    const { signal } = this.#stop
    for (;;) {
      await pause(pauseMs, signal).catch(() => {})
      if (signal.aborted) return
      await beat().catch(() => {})
    }
  }
}

/**
 * Returns the interval in milliseconds of a worker's regular message: `ms`, but at most a third of the lease. The lease
 * is the silence after which the worker loses its job. The interval is short enough that the worker keeps its job if
 * one message is late or lost.
 */
export function intervalIn(leaseMs: number, ms: number): number {
  return Math.min(ms, leaseMs / 3)
}

/**
 * Returns as many of the first utterances as fit into `bytesMax` bytes of JSON. The commas between them do not count.
 */
export function firstOf(utterances: Utterance[], bytesMax: number): Utterance[] {
  let bytes = 0
  const end = utterances.findIndex(utterance => {
    bytes += Buffer.byteLength(JSON.stringify(utterance))
    return bytes > bytesMax
  })
  return end < 0 ? utterances : utterances.slice(0, end)
}
