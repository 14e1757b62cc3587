// Inspects and decodes one damaged file, as a job would, and gives the outcome.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type JobErrorCode, JobFailure } from '../../src/errors.ts'
import { decode } from '../../src/media/decode.ts'
import { openMedia } from '../../src/media/inspect.ts'
import { defaults } from '../support/defaults.ts'
import { mutant } from './mutations.ts'

export type Outcome = { name: string; ended: JobErrorCode | 'decoded'; durationMs: number; decodedMs: number }

const signal = new AbortController().signal
/** Far more than a file of two seconds takes, even on a busy machine; whatever runs into it hangs. */
const bounds = { stallMs: 60_000, cpuMs: 20_000, priority: 0 }
const { durationMsMin, durationMsMax } = defaults
const media = openMedia({ durationMsMin, durationMsMax, bounds })

/** Anything but one of the job's own failures is thrown. */
export async function tryMutant(number: number, folder: string): Promise<Outcome> {
  const { name, bytes } = mutant(number)
  const path = join(folder, `${number}`)
  writeFileSync(path, bytes)
  const outcome: Outcome = { name, ended: 'decoded', durationMs: 0, decodedMs: 0 }
  try {
    outcome.durationMs = (await media.inspect(path, { signal })).durationMs
    for await (const part of decode(path, { signal, durationMsMax, bounds }))
      outcome.decodedMs += part.length / 16
  } catch (error) {
    if (!(error instanceof JobFailure)) throw error
    outcome.ended = error.code
  }
  return outcome
}

/** Two at a time, each number once; gives the outcomes in the order in which they came. */
export async function tryMutants(count: number, folder: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  let next = 0
  const work = async () => {
    while (next < count) outcomes.push(await tryMutant(next++, folder))
  }
  await Promise.all([work(), work()])
  return outcomes
}
