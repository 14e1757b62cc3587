// Inspects and decodes damaged files, as a job does.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type JobErrorCode, JobFailure } from '../../src/errors.ts'
import { decode } from '../../src/media/decode.ts'
import { openMedia } from '../../src/media/inspect.ts'
import { failureOf } from '../../src/media/refusals.ts'
import { defaults } from '../support/defaults.ts'
import { mutant } from './mutations.ts'

export type Outcome = {
  name: string
  ended: JobErrorCode | 'decoded'
  /** True if the child process reached its limit of CPU time. */
  isTooSlow: boolean
  durationMs: number
  decodedMs: number
}

const signal = new AbortController().signal
/**
 * Limits far above the needs of a file of two seconds. A child process that reaches the limit of CPU time counts as too
 * slow.
 */
const bounds = { stallMs: 60_000, cpuMs: 20_000, priority: 0 }
const { durationMsMin, durationMsMax } = defaults
const media = openMedia({ durationMsMin, durationMsMax, bounds })

/**
 * Makes the damaged file with the given number, then inspects and decodes it. Throws any error that is not a
 * JobFailure.
 */
export async function tryMutant(number: number, folder: string): Promise<Outcome> {
  const { name, bytes } = mutant(number)
  const path = join(folder, `${number}`)
  writeFileSync(path, bytes)
  const outcome: Outcome = { name, ended: 'decoded', isTooSlow: false, durationMs: 0, decodedMs: 0 }
  try {
    outcome.durationMs = (await media.inspect(path, { signal })).durationMs
    for await (const part of decode(path, { signal, durationMsMax, bounds }))
      outcome.decodedMs += part.length / 16
  } catch (error) {
    if (!(error instanceof JobFailure)) throw error
    outcome.ended = error.code
    outcome.isTooSlow = error.message === failureOf('too-slow').message
  }
  return outcome
}

/**
 * Inspects and decodes `count` damaged files, numbered from 0, two at a time. Returns the outcomes in the order of
 * their ends.
 */
export async function tryMutants(count: number, folder: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  let next = 0
  const work = async () => {
    while (next < count) outcomes.push(await tryMutant(next++, folder))
  }
  await Promise.all([work(), work()])
  return outcomes
}
