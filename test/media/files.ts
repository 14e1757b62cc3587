// Functions with which the media tests find, inspect and decode the files in test/fixtures/media.

import { join } from 'node:path'
import { joinFloats } from '../../src/base/join-floats.ts'
import { JobFailure } from '../../src/errors.ts'
import { decode } from '../../src/media/decode.ts'
import { openMedia } from '../../src/media/inspect.ts'
import { defaults } from '../support/defaults.ts'

const { durationMsMin, durationMsMax } = defaults
/** The timeout of a media test in milliseconds. It is long, because a busy machine delays child processes. */
export const patienceMs = 60_000
/**
 * The media child process runs with the normal priority. With its usual low priority, the tests take minutes on a busy
 * machine.
 */
export const bounds = { priority: 0 }
export const forever = new AbortController().signal
export const media = openMedia({ durationMsMin, durationMsMax, bounds })

export function fixture(name: string): string {
  return join(import.meta.dir, '../fixtures/media', name)
}

export function inspect(path: string) {
  return media.inspect(path, { signal: forever })
}

export async function decodeAll(path: string): Promise<Float32Array> {
  return joinFloats(await Array.fromAsync(decode(path, { signal: forever, durationMsMax, bounds })))
}

/**
 * Returns the code and the message of the JobFailure with which `promise` rejects. Throws if the promise resolves, or
 * rejects with any other error.
 */
export async function failureOf(promise: Promise<unknown>): Promise<{ code: string; message: string }> {
  const outcome = await promise.then(
    () => null,
    error => error,
  )
  if (!(outcome instanceof JobFailure)) throw outcome ?? new Error('it did not fail')
  return { code: outcome.code, message: outcome.message }
}
