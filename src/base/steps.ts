// Long computations that can be interrupted after each of their steps.

import { openBreaks } from './breaks.ts'

/** A computation that yields after each step, and returns its result. */
export type Steps<Result> = Generator<undefined, Result, undefined>

export function runAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Runs the steps. Takes breaks in which the server handles other events. */
export async function runWithBreaks<Result>(steps: Steps<Result>): Promise<Result> {
  const takeBreak = openBreaks()
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    await takeBreak()
  }
}
